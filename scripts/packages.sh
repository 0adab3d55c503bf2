#!/usr/bin/env bash
# packages.sh COMMAND... installs the Debian packages of those commands that are missing.
# Of MariaDB it takes only the -core packages: programs without a service. Redis has none
# of that kind, so its service is turned off. Thus no server starts, now or with the
# machine, and one that is installed already is left alone.
set -euo pipefail

# Servers live here, and an ordinary user's PATH may lack it.
PATH=$PATH:/usr/sbin

package_of() {
  case $1 in
  mariadbd) echo mariadb-server-core ;;
  mariadb) echo mariadb-client-core ;;
  redis-cli) echo redis-tools ;;
  cc) echo gcc libc6-dev ;; # the race detector links with C
  *) echo "$1" ;;
  esac
}

missing() {
  local command
  for command; do
    command -v "$command" >/dev/null || package_of "$command"
  done
}

[[ -n $(missing "$@") ]] || exit 0

if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
  echo "packages.sh: please install: $(missing "$@" | tr '\n' ' ')" >&2
  exit 1
fi

# Two runs may come here at once: the second waits, then looks again.
exec 9>/run/kith-packages.lock
flock 9
mapfile -t packages < <(missing "$@" | tr ' ' '\n')
[[ ${#packages[@]} -gt 0 ]] || exit 0

# A service that some dependency brings along must not start either.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
echo "packages.sh: installing ${packages[*]}" >&2
"${apt[@]}" update >/dev/null
"${apt[@]}" install -y --no-install-recommends "${packages[@]}" 9>&- >/dev/null
if [[ " ${packages[*]} " == *" redis-server "* ]]; then
  update-rc.d redis-server disable # for systemd as well
fi
