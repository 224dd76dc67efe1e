#!/usr/bin/env bash
# scripts/release on a clone, without packages: what it refuses, and what a release has.
. "$(dirname "$0")/../shell.sh"

clone=$scratch/clone
mkdir -p "$clone/scripts" "$clone/src/base"
cp "$root/scripts/release" "$clone/scripts"
cp "$root/CMakeLists.txt" "$clone"
cp "$root/src/base/base.h" "$clone/src/base"
printf '# Changelog\n\n## Unreleased\n\n- faster\n\n## 0.0.1\n\n- first\n' >"$clone/CHANGELOG.md"
cd "$clone" || exit 1
{ git init -q . && git config user.name t && git config user.email t@t && git add -A &&
  git commit -qm first; } >/dev/null 2>&1
release=(scripts/release --no-packages)

expect 2 'scripts/release' "${release[@]}"
expect 2 'scripts/release' "${release[@]}" 9.9
expect 1 'is below' "${release[@]}" 0.0.9
echo x >>CHANGELOG.md
expect 1 'the tree has changes' "${release[@]}" 99.1.0
git checkout -q CHANGELOG.md
expect 0 'git push origin HEAD v99.1.0' "${release[@]}" 99.1.0
expect 0 'project(sectile VERSION 99.1.0 LANGUAGES C)' cat CMakeLists.txt
expect 0 '#define SCT_VERSION "99.1.0"' cat src/base/base.h
expect 0 '- faster' cat build/package/out/NOTES.md
absent '- first'
expect 0 "## 99.1.0 ($(date -u +%Y)" cat CHANGELOG.md
expect 0 'release: 99.1.0' git log -1 --format=%s v99.1.0
expect 1 'there is a tag v99.1.0 already' "${release[@]}" 99.1.0
echo x >new && git add new && git commit -qm new
expect 1 'is empty' "${release[@]}" 99.2.0
finish
