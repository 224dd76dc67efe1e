#!/usr/bin/env bash
# Four shares as jobs of a real Slurm, one controller and two nodes on this host: a task is killed,
# a node dies, and what comes out is what one undisturbed session finds.
. "$(dirname "$0")/../shell.sh"
for program in sqlite3 munged mungekey slurmctld slurmd sbatch scontrol; do
  PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null && continue
  echo "skipped: there is no $program here (Debian: slurmctld slurmd slurm-client munge sqlite3)"
  exit 77
done
export PATH="$PATH:/usr/sbin" SLURM_CONF="$scratch/slurm.conf" SECTILE_CORES=1
port=$((20000 + $$ % 10000 * 3))
me=$(id -un)
daemons=()

# ---- Slurm
start() { # start COMMAND...: a daemon that stays in the foreground, to end with the test
  "$@" >>"$scratch/daemons.log" 2>&1 &
  daemons+=($!)
  disown
}
stop_all() {
  local pid
  for pid in "${daemons[@]}"; do
    kill -KILL "$pid" 2>/dev/null
  done
  pids_of "$scratch/" | xargs -r kill -KILL 2>/dev/null
  rm -rf "$scratch"
}
pids_of() { # pids_of TEXT: processes whose arguments hold it, this shell's own left out
  pgrep -f -- "$1" | grep -vx "$$"
}
trap stop_all EXIT
until_true() { # until_true SECONDS COMMAND...
  local end=$((SECONDS + $1))
  while [ "$SECONDS" -lt "$end" ]; do
    "${@:2}" >/dev/null 2>&1 && return 0
    sleep 0.02
  done
  return 1
}
mkdir -p -m 700 "$scratch/munge" "$scratch/state" "$scratch/spool/n1" "$scratch/spool/n2"
cat >"$SLURM_CONF" <<END_CONF
ClusterName=sectile
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$scratch/munge/socket,cred_expire=5
SlurmUser=$me
SlurmdUser=$me
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool/%n
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE
END_CONF
mungekey --create --keyfile="$scratch/munge/key"
start munged --foreground --force --socket="$scratch/munge/socket" --key-file="$scratch/munge/key" \
  --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed"
until_true 30 test -S "$scratch/munge/socket"
start slurmctld -D -i
for node in n1 n2; do
  start nice slurmd -D -N "$node" # behind this test, which stops what runs there in time
done
nodes_idle() { [ "$(sinfo -h -t idle -o %D)" = 2 ]; }
until_true 60 nodes_idle
expect 0 '' nodes_idle
[ "$failures" = 0 ] || { cat "$scratch/daemons.log" && finish; }

# ---- four shares
cd "$scratch" || exit 1
passed=(-d virtual:h200 --search exhaustive)
expect 0 '' "$SCT_PROGRAM" examples add_const_double3 -o .
fleet=$scratch/fleet
expect 0 '(4 shares)' "$SCT_PROGRAM" submit add_const_double3.lua --shards 4 --store "$fleet" \
  -- "${passed[@]}"
# one that was killed while it wrote is recovered by who opens it to write; its lock may outlive the
# signal for a moment
outcomes() {
  sqlite3 -cmd '.timeout 30000' "file:$1?mode=rw" "SELECT count(*) FROM outcome" 2>/dev/null
}
is_under_way() { [ "$(outcomes "$fleet/share-$1-of-4.db")" -gt 0 ]; }
# both are stopped at their first outcome, so that there is something to lose
halt() { # halt SHARE
  until_true 60 is_under_way "$1"
  pids_of "--shard $1/4" | xargs -r kill -STOP
}
halt 1 &
first=$!
halt 2
wait "$first"
for share in 1 2; do
  [ -n "$(pids_of "--shard $share/4")" ] || {
    echo "skipped: share $share had ended before it could be stopped"
    exit 77
  }
done
pids_of '--shard 1/4' | xargs kill -KILL
expect 0 '' is_under_way 1

# the node of the second share dies, with all that runs there
node=$(squeue -h -r -o '%K %N' | sed -n 's/^2 //p')
expect 0 'n' echo "$node"
script=$(pids_of "$scratch/spool/$node/job")
kill -KILL "${daemons[$([ "$node" = n1 ] && echo 2 || echo 3)]}"
kill -KILL "$(ps -o ppid= -p "$script" | tr -d ' ')" # slurmstepd, so that no one reports the end
kill -KILL "$script"
pids_of '--shard 2/4' | xargs kill -KILL
expect 0 '' is_under_way 2
# Slurm sees that by itself, after half a minute; a health check is faster
expect 0 '' scontrol update "NodeName=$node" State=DOWN Reason=died

is_over() { [ -z "$(squeue -h)" ]; }
until_true 180 is_over
expect 0 '' is_over
restarts() { # by task
  scontrol -o show job | sed -n 's/.*ArrayTaskId=\([0-9]*\) .* Restarts=\([0-9]*\) .*/\1:\2/p' |
    sort | xargs
}
expect 0 '1:1 2:1 3:0 4:0' restarts
expect 0 'final heat: the 10 best of each size' cat "$fleet/heat.log"

# ---- one undisturbed session
expect 0 '' "$SCT_PROGRAM" tune add_const_double3.lua --store whole.db "${passed[@]}" -q
rows() {
  sqlite3 "$1" "SELECT label, outcome, predicted_ns FROM outcome
    JOIN candidate ON candidate.id = outcome.candidate ORDER BY label"
}
winner() {
  sqlite3 "$1" "SELECT label FROM run JOIN outcome ON outcome.id = run.winner
    JOIN candidate ON candidate.id = outcome.candidate"
}
expect 0 "$(outcomes whole.db)" outcomes "$fleet/all-of-4.db"
expect 0 '' cmp <(rows whole.db) <(rows "$fleet/all-of-4.db")
expect 0 "$(winner whole.db)" winner "$fleet/heat.db"
expect 0 '0' sqlite3 "$fleet/all-of-4.db" 'SELECT count(*) FROM earlier'
finish
