#!/usr/bin/env bash
# `sectile submit`: scripts for Slurm and GNU parallel, with paths that a shell would take apart.
# What stands in for Slurm here runs them at once.
. "$(dirname "$0")/../shell.sh"
command -v sqlite3 >/dev/null || exit 77

odd="$scratch/it's \$odd; \"x\" (1)"
mkdir -p "$odd/extra strategies" "$scratch/bin"
cd "$odd" || exit 1
cat >'my halve.lua' <<'END_SPEC'
local s = require "sectile"
return s.kernel {
  name = "halve", dims = { "i" },
  inputs = { s.array("a", "f32") }, outputs = { s.array("b", "f32") },
  body = "b = 0.5f * a;", sizes = { { i = 3000 } },
}
END_SPEC
submit() { # submit OPTIONS... of the spec
  "$SCT_PROGRAM" submit 'my halve.lua' "$@"
}
outcomes() { sqlite3 "$1" "SELECT count(*) FROM outcome"; }
winner() {
  sqlite3 "$1" "SELECT label FROM run JOIN outcome ON outcome.id = run.winner
    JOIN candidate ON candidate.id = outcome.candidate"
}

# ---- Slurm: a stand-in that runs a task at a time, and then the job that depends on them
cat >"$scratch/bin/sbatch" <<'END_SBATCH'
#!/bin/bash
printf '%s\n' "$*" >>"$SBATCH_LOG"
script=${!#}
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
if [ -z "$tasks" ]; then
  SLURM_JOB_ID=8 bash "$script" >&2 || exit
  echo 8
  exit
fi
for task in $(seq "$tasks"); do
  SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task bash "$script" >&2 || exit
done
echo '7;cluster'
END_SBATCH
chmod +x "$scratch/bin/sbatch"
export SBATCH_LOG="$scratch/sbatch.log" PATH="$scratch/bin:$PATH"

passed=(-- -d virtual:h200 --search exhaustive --strategies 'extra strategies' -q)
expect 0 '#SBATCH --gres=gpu:h200:1' submit --shards 3 --gres gpu:h200:1 --time 1-02:00:00 \
  --store 'the fleet' --dry-run "${passed[@]}"
expect 0 '#SBATCH --time=1-02:00:00' submit --shards 3 --time 1-02:00:00 --store 'the fleet' \
  --dry-run "${passed[@]}"
absent '--gres'
absent '{{'
expect 0 "the fleet/heat.sh\":" submit --shards 3 --store 'the fleet' --dry-run --json \
  "${passed[@]}"
expect 1 '' test -e 'the fleet'
expect 0 'submitted job 7 (3 shares) and, after it, job 8 (final heat)' \
  submit --shards 3 --store 'the fleet' "${passed[@]}"
expect 1 'there is no sbatch on this host' env PATH="$scratch/none" \
  /bin/bash 'the fleet/submit.sh'
expect 0 '--parsable --dependency=afterok:7 --kill-on-invalid-dep=yes heat.sh' cat "$SBATCH_LOG"
expect 0 '' "$SCT_PROGRAM" tune 'my halve.lua' --store whole.db "${passed[@]:1}"
expect 0 "$(outcomes whole.db)" outcomes 'the fleet/all-of-3.db'
expect 0 "$(winner whole.db)" winner 'the fleet/heat.db'
for script in share heat submit; do
  expect 0 '' bash -n "the fleet/$script.sh"
done

# ---- how far it is, by the stores
status() { # status TEXT
  expect 0 "$1" "$SCT_PROGRAM" status 'the fleet'
}
change() { sqlite3 "the fleet/share-$1-of-3.db" "$2"; }
line() { sed -n "$1p" "$scratch/output" | tr -s ' '; }
status '3 of 3 shares are done'
own=$(outcomes 'the fleet/share-1-of-3.db')
expect 0 "1 halve i=3000 $own of $own done $(winner "the fleet/share-1-of-3.db") " \
  echo "$(status ''; line 2)"
heat=$(outcomes 'the fleet/heat.db')
expect 0 "final heat halve i=3000 $heat of $heat done $(winner whole.db) " \
  echo "$(status ''; line 5)"
absent slow
change 1 "UPDATE run SET finished = '', winner = NULL, naive = NULL;
  DELETE FROM outcome WHERE id % 2"
status '2 of 3 shares are done'
expect 0 "1 halve i=3000 $(outcomes 'the fleet/share-1-of-3.db') of $own under way " \
  echo "$(status ''; line 2)"
change 2 "UPDATE outcome SET median_ns = 5000"
change 3 "UPDATE outcome SET median_ns = 7500; UPDATE run SET
  conditions = json_set(conditions, '$.node', 'slow_node')"
status 'slow_node  1.20 times as slow' # half as slow as the other, a fifth above their median
expect 0 '"scale": 1.2' "$SCT_PROGRAM" status 'the fleet' --json
expect 0 '"scale": null' "$SCT_PROGRAM" status 'the fleet' --json
expect 0 "\"planned\": $heat," "$SCT_PROGRAM" status 'the fleet' --json
mv 'the fleet/share-2-of-3.db' 'the fleet/heat.db' .
echo 'this is no store at all, though long enough to be one' >'the fleet/share-3-of-3.db'
status '0 of 3 shares are done'
expect 0 '2 waiting' echo "$(status ''; line 3)"
expect 0 'share-3-of-3.db' echo "$(status ''; line 4)"
expect 0 'final heat waiting' echo "$(status ''; line 5)"
expect 2 'has no script share.sh' "$SCT_PROGRAM" status .
expect 2 'has no script share.sh' "$SCT_PROGRAM" status none

# ---- what a share's script makes of how `tune` ends
cat >"$scratch/tune" <<'END_TUNE'
#!/bin/bash
trap 'exit 130' TERM
case $HOW in
  [0-9]*) exit "$HOW" ;;
  killed) kill -KILL $$ ;;
  waits) touch "$BEGAN"; while :; do sleep 0.05; done ;;
esac
END_TUNE
cat >"$scratch/bin/scontrol" <<'END_SCONTROL'
#!/bin/bash
echo "scontrol $*"
END_SCONTROL
chmod +x "$scratch/tune" "$scratch/bin/scontrol"
sed "s|^[^#]*tune .*--shard |'$scratch/tune' |" 'the fleet/share.sh' >"$scratch/share.sh"
expect 0 "'$scratch/tune' \"\$share/3\"" cat "$scratch/share.sh"
ends() { # ends HOW RESTARTS [SIGNAL]: the script's status follows from them
  local script
  rm -f "$scratch/began"
  HOW=$1 BEGAN=$scratch/began SLURM_RESTART_COUNT=$2 SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=1 \
    bash "$scratch/share.sh" &
  script=$!
  if [ -n "${3:-}" ]; then
    until [ -e "$scratch/began" ]; do sleep 0.01; done
    kill -"$3" "$script"
  fi
  wait "$script"
}
expect 0 'scontrol requeue 7' ends killed 2
expect 137 '' ends killed 3 # it will be killed again
absent scontrol
expect 0 'scontrol requeue 7' ends waits 50 USR1
expect 130 '' ends waits 0 TERM # cancelled
absent scontrol
for code in 0 3 4 5 130; do
  expect "$code" '' ends "$code" 0
  absent scontrol
done
expect 0 '' ends 7 0

# ---- GNU parallel, here on this host only
printf '2/:\n' >'my hosts'
expect 0 'seq 2 | parallel --sshloginfile' submit --shards 2 --engine parallel --hosts 'my hosts' \
  --store two --dry-run "${passed[@]}"
if parallel --version 2>/dev/null | grep -q GNU; then
  expect 0 '' submit --shards 2 --engine parallel --hosts 'my hosts' --store two "${passed[@]}"
  expect 0 "$(outcomes whole.db)" outcomes two/all-of-2.db
  expect 0 "$(winner whole.db)" winner two/heat.db
fi

# ---- mistakes are found before anything is written
bad() { # bad TEXT OPTIONS...
  expect 2 "$1" submit "${@:2}"
}
bad 'needs --shards N and --store' --shards 3
bad 'needs --shards N and --store' --store bad
bad "did you mean 'slurm'?" --shards 3 --store bad --engine slurmm
bad '--hosts FILE goes with' --shards 3 --store bad --engine parallel
bad '--hosts FILE goes with' --shards 3 --store bad --hosts 'my hosts'
bad "there is no 'none'" --shards 3 --store bad --engine parallel --hosts none
bad 'expected a value as `sbatch` takes it, as in gpu:1' --shards 3 --store bad --gres 'gpu:1 -x'
bad 'expected a value as `sbatch` takes it, as in 2:00:00' --shards 3 --store bad --time '$(x)'
bad 'from 1 to 100000' --shards 0 --store bad
bad "did you mean '--budget'?" --shards 3 --store bad -- --bugdet 3s
bad 'given by the scripts of `submit`' --shards 3 --store bad -- --shard 1/3
bad "'x' after \`--\` is no option" --shards 3 --store bad -- -q x
expect 2 'needs a SPEC before `--`' "$SCT_PROGRAM" submit --shards 3 --store bad -- -q
expect 1 'none.lua' "$SCT_PROGRAM" submit none.lua --shards 3 --store bad
expect 1 '' test -e bad
finish
