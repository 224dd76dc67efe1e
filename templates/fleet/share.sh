#!/bin/bash
#SBATCH --job-name=sectile
#SBATCH --array=1-{{SHARDS}}
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
#SBATCH --open-mode=append
#SBATCH --output=share-%a-of-{{SHARDS}}.log
{{RESOURCES}}
# One share of the candidates on one GPU, by `sectile submit`. Its store keeps every outcome, so a task that is
# run again goes on where it stopped. Without Slurm the argument says which share.
set -u
share=${SLURM_ARRAY_TASK_ID:-${1:?expected which share, as a number}}
cd {{DIRECTORY}} || exit

# Without Slurm: the first GPU of this host that no other share has.
if [ -z "${SLURM_JOB_ID:-}" ] && command -v nvidia-smi >/dev/null; then
  for gpu in $(seq 0 "$(($(nvidia-smi --list-gpus | wc -l) - 1))"); do
    exec 9>"${TMPDIR:-/tmp}/sectile-$UID-gpu-$gpu"
    flock --nonblock 9 && export CUDA_VISIBLE_DEVICES="$gpu" && break
  done
fi

{{SECTILE}} tune {{SPECS}} --shard "$share/{{SHARDS}}" \
  --store {{FLEET}}/"share-$share-of-{{SHARDS}}.db" {{OPTIONS}} &
tune=$!

# SIGUSR1 says that the time limit is near, SIGTERM that the job was cancelled: after either `sectile tune` ends
# with everything stored.
near_limit=false
trap 'near_limit=true; kill -TERM "$tune"' USR1
trap 'kill -TERM "$tune"' TERM INT
wait "$tune"
status=$?
while kill -0 "$tune" 2>/dev/null; do # a signal ended `wait`
  wait "$tune"
  status=$?
done

# 130: stopped before the limit, to go on in another run. Above: killed, by whoever ran out of memory, say.
restarts=${SLURM_RESTART_COUNT:-0}
if [ -n "${SLURM_JOB_ID:-}" ]; then
  if { $near_limit && [ "$status" = 130 ] && [ "$restarts" -lt 100 ]; } ||
    { [ "$status" -gt 130 ] && [ "$restarts" -lt 3 ]; }; then
    scontrol requeue "$SLURM_JOB_ID" && exit
  fi
fi
[ "$status" = 7 ] && status=0 # what --budget gave was used up, which was asked for
exit "$status"
