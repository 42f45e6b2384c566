#!/usr/bin/env bash
# One file, and what comes of it: step.sh INPUT OUTPUT
set -u

# A name as JSON has it.
json() {
  local name=${1//\\/\\\\}
  printf '"%s"' "${name//\"/\\\"}"
}

job="{\"input\":$(json "$1"),\"output\":$(json "$2"),\"preset\":\"podcast\"}"
last=$(printf '%s' "$job" | voxmux step - | tail -n 1)

# The last line is the result: its status decides, the exit code of voxmux says the same in a number.
case $last in
  *'"status":"done"'*) echo "finished: $2, proven by $2.voxmux.json" ;;
  *'"status":"skipped"'*) echo "there already: $2" ;;
  *'"status":"pending"'*) echo "still running: run me again" >&2; exit 3 ;;
  *) echo "failed: $last" >&2; exit 1 ;;
esac
