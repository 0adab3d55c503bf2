#!/usr/bin/env bash
# clients.sh ws|sse URL subscribes at URL by npm's graphql-ws or graphql-sse; see
# transport/clients/clients.mjs. Without arguments it installs them only.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin="$(scripts/node.sh)"
export PATH="$bin:$PATH"

cd transport/clients
exec 9>../../.tools/clients.lock
flock 9 # two at once: the second finds them installed
if ! cmp -s package-lock.json node_modules/installed; then
  npm ci --no-audit --no-fund >&2 9>&-
  cp package-lock.json node_modules/installed # last: half an install has none
fi
exec 9>&-
[[ $# -gt 0 ]] || exit 0
exec node clients.mjs "$@"
