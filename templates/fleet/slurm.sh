#!/bin/bash
# Submits a job array, a task for each share, and the job after it, by `sectile submit`. Run again, shares go on.
# Partition, account and the like are those of SBATCH_PARTITION, SBATCH_ACCOUNT, ... (man sbatch).
set -eu
cd {{FLEET}}
command -v sbatch >/dev/null || {
  echo "there is no sbatch on this host; the scripts are in $PWD, and \`sectile submit --dry-run\` prints them" >&2
  exit 1
}
shares=$(sbatch --parsable share.sh)
shares=${shares%%;*} # without the cluster's name
heat=$(sbatch --parsable --dependency="afterok:$shares" --kill-on-invalid-dep=yes heat.sh)
echo "submitted job $shares ({{SHARDS}} shares) and, after it, job ${heat%%;*} (final heat)"
