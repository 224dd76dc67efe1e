#!/bin/bash
# Runs all shares on the hosts of a list by GNU parallel, then the final heat on one of them, by `sectile submit`.
# Run again, shares go on. A host with four GPUs stands in the list as 4/host.
set -eu
cd {{FLEET}}
seq {{SHARDS}} | parallel --sshloginfile {{HOSTS}} --jobs 1 --retries 3 --tag --line-buffer --quote \
  bash {{FLEET}}/share.sh
parallel --sshloginfile {{HOSTS}} --jobs 1 --quote bash {{FLEET}}/heat.sh ::: heat
