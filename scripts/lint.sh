#!/usr/bin/env bash
# lint.sh runs the linters, each at one version: golangci-lint over the Go code (its
# rules are in .golangci.yml), shellcheck over the scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=2.15.0
golangci=.tools/bin/golangci-lint
if ! "$golangci" version 2>/dev/null | grep -q "version v\?$version "; then
  echo "lint.sh: compiling golangci-lint $version, some minutes the first time" >&2
  GOBIN=$PWD/.tools/bin go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$version"
fi
"$golangci" run

scripts/packages.sh shellcheck
shellcheck .ci/run scripts/*.sh
