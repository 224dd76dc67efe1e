#!/bin/bash
#SBATCH --job-name=sectile-heat
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=heat.log
{{RESOURCES}}
# Joins the stores of all shares and races the best of them on one GPU, by `sectile submit`. `sectile emit` takes
# the winners from the store heat.db.
set -eu
cd {{FLEET}}
for share in $(seq {{SHARDS}}); do
  printf 'share-%d-of-{{SHARDS}}.db\0' "$share"
done | xargs -0 -n 300 {{SECTILE}} merge all-of-{{SHARDS}}.db
cd {{DIRECTORY}}
exec {{SECTILE}} tune {{SPECS}} --top-of {{FLEET}}/all-of-{{SHARDS}}.db \
  --store {{FLEET}}/heat.db {{OPTIONS}}
