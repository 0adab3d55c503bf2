#!/usr/bin/env bash
# Builds the GraphiQL page: web/src -> web/dist, which is committed and embedded. The
# same sources give the same bytes, so CI runs this and fails on a difference.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin="$(scripts/node.sh)"
export PATH="$bin:$PATH"

cd web
npm ci --no-audit --no-fund
# Vite compiles React's development build into the page when this says so.
NODE_ENV=production npm run build
