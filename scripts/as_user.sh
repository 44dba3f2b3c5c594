#!/usr/bin/env bash
# Runs a test program as an ordinary user, with a folder of its own for temporary files. Where this is
# not run by root there is nothing to change to: then the program has been run so already, and this says
# 77, which CTest counts as skipped.
set -euo pipefail
program=$1
shift
if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: not root, so the tests run as an ordinary user anyway"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
install -m 755 "$program" "$folder/program"
install -d -o nobody -g nogroup "$folder/tmp"
cd "$folder/tmp"
env TMPDIR="$folder/tmp" HOME="$folder/tmp" \
  setpriv --reuid=nobody --regid=nogroup --clear-groups "$folder/program" "$@"
