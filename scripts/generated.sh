#!/usr/bin/env bash
# generated.sh COMMAND... runs COMMAND, which writes the generated and built files, and
# fails if that changed any: then they did not belong to their sources. Contents are
# compared, not the state of git, so that a change not yet committed is no error.
set -euo pipefail

# By find, not by git: a file that git ignores by mistake must show as well.
sums() {
  find graph web/dist schema.graphqls -type f -exec sha256sum {} + 2>/dev/null | sort -k 2
}

before=$(sums || true)
"$@"
if ! diff <(echo "$before") <(sums || true); then
  echo "generated.sh: these files were out of date; they are written anew, commit them" >&2
  exit 1
fi
