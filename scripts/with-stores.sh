#!/usr/bin/env bash
# with-stores.sh [--durable] COMMAND... runs COMMAND with a MariaDB of its own: a free
# port of loopback, a fresh folder, both gone when COMMAND ends, whatever ends it.
# COMMAND finds it by KITH_TEST_MYSQL, a DSN without a database; if that is set already,
# that server is used and none started. The exit code is COMMAND's.
#
# --durable is for benchmarks: it flushes the log at every commit, to a disk, as in
# production. Tests need neither, and making a database for each is six times as fast in
# memory, where there is enough.
set -euo pipefail

flush=2
folder=${TMPDIR:-/var/tmp} # not /tmp, which may be memory
if [[ ${1-} == --durable ]]; then
  flush=1
  shift
elif [[ $(df --output=avail /dev/shm 2>/dev/null | tail -n 1) -gt 4000000 ]]; then # KB
  folder=/dev/shm
fi
if [[ $# == 0 ]]; then
  echo "usage: with-stores.sh [--durable] COMMAND..." >&2
  exit 2
fi

packages=$(dirname "${BASH_SOURCE[0]}")/packages.sh
"$packages" chromium
if [[ -n ${KITH_TEST_MYSQL-} ]]; then
  exec "$@"
fi
"$packages" mariadbd mariadb
PATH=$PATH:/usr/sbin

dir=$(mktemp -d "$folder/kith-stores.XXXXXX")
socket=$dir/socket
log=$dir/log

# No option files: a server of this machine must not lend its settings.
server=(mariadbd --no-defaults --datadir="$dir/data" --tmpdir="$dir" --socket="$socket"
  --pid-file="$dir/pid" --bind-address=127.0.0.1 --skip-name-resolve --skip-log-bin
  --character-set-server=utf8mb4 --max-connections=1000 --innodb-buffer-pool-size=256M
  --performance-schema=off --innodb-flush-log-at-trx-commit="$flush")
# --force: it would refuse a machine whose own name does not resolve.
install=(mariadb-install-db --no-defaults --datadir="$dir/data" --skip-test-db --force
  --auth-root-authentication-method=normal)
if [[ $(id -u) == 0 ]]; then
  server+=(--user=root)
  install+=(--user=root)
fi

# start runs the server and prints its port once it answers. Only bind knows whether a
# port is free, so it tries some, below those that Linux gives to outgoing connections.
start() {
  "${install[@]}" &>>"$log" || return
  local port
  for _ in {1..20}; do
    port=$((20000 + RANDOM % 12000))
    "${server[@]}" --port=$port &>>"$log" &
    while kill -0 $! 2>/dev/null; do
      if mariadb --no-defaults -uroot -S "$socket" -e 'DO 1' &>/dev/null; then
        echo $port
        wait
        return
      fi
      sleep 0.1
    done
    grep -q 'Address already in use' "$log" || return
  done
}

# keep owns the folder and the server and clears both away when its standard input ends.
# This script alone holds the other end, so that comes even if it is killed with SIGKILL.
keep() {
  set +e -m
  trap '' INT TERM HUP PIPE
  start &
  exec >&- # only start holds it now: no port means start has failed
  cat >/dev/null
  kill -KILL -- -$!
  [[ ! -e $dir/command ]] || kill -KILL -- "-$(<"$dir/command")"
  rm -rf "$dir"
}

# Each job below gets a process group: a signal to this script's group must not hit the
# server before its time, and one to this script must reach all of COMMAND.
set -m
coproc KEEPER { keep 2>/dev/null; }
keeper=$KEEPER_PID
# shellcheck disable=SC2034 # {life}>&- below uses it
life=${KEEPER[1]} # bash unsets both when the keeper ends
trap 'exec {life}>&-; wait "$keeper" || true' EXIT

command=
# shellcheck disable=SC2317 # traps call it
pass_on() {
  [[ -n $command ]] || exit $((128 + $(kill -l "$1")))
  interrupted=yes
  kill -s "$1" -- "-$command" 2>/dev/null || true
}
for signal in INT TERM HUP; do
  # shellcheck disable=SC2064 # now is meant
  trap "pass_on $signal" "$signal"
done

if ! read -r -u "${KEEPER[0]}" port; then
  echo "with-stores.sh: MariaDB did not start:" >&2
  tail -n 30 "$log" >&2
  exit 1
fi
export KITH_TEST_MYSQL="root@tcp(127.0.0.1:$port)/"
echo "with-stores.sh: export KITH_TEST_MYSQL='$KITH_TEST_MYSQL'" >&2

# A job in the background would be stopped on reading from a terminal.
[[ ! -t 0 ]] || exec </dev/null
"$@" &
command=$!
echo $command >"$dir/command"

# A signal ends wait early; COMMAND has ended only if none came.
interrupted=yes
while [[ -n $interrupted ]]; do
  interrupted=
  code=0
  wait "$command" || code=$?
done
exit "$code"
