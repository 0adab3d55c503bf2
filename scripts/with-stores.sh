#!/usr/bin/env bash
# with-stores.sh [--durable] COMMAND... runs COMMAND with stores of its own: free ports of
# loopback, a fresh folder, all gone when COMMAND ends, whatever ends it. COMMAND finds
# them by these variables; one that is set already is used, and that store not started:
#   KITH_TEST_MYSQL          a MariaDB: a DSN without a database
#   KITH_TEST_REDIS          a Redis: its URL
#   KITH_TEST_REDIS_CLUSTER  a Redis Cluster of three masters: their addresses
# The exit code is COMMAND's.
#
# --durable is for benchmarks: MariaDB flushes the log at every commit, to a disk, as in
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

# Each of stores is a script and its arguments but for the folder, the first.
here=$(dirname "${BASH_SOURCE[0]}")
stores=() commands=(chromium)
if [[ -z ${KITH_TEST_MYSQL-} ]]; then
  stores+=("mariadb.sh $flush")
  commands+=(mariadbd mariadb)
fi
[[ -n ${KITH_TEST_REDIS-} ]] || stores+=("redis.sh single")
[[ -n ${KITH_TEST_REDIS_CLUSTER-} ]] || stores+=("redis.sh cluster")
[[ ${stores[*]-} != *redis* ]] || commands+=(redis-server redis-cli)
"$here/packages.sh" "${commands[@]}"
[[ ${#stores[@]} -gt 0 ]] || exec "$@"

dir=$(mktemp -d "$folder/kith-stores.XXXXXX")

# start runs the stores and prints their variables once all answer; if one does not, it
# prints none and leaves the reason in $dir/failed.
start() {
  local store script argument jobs=()
  for store in "${stores[@]}"; do
    read -r script argument <<<"$store"
    store=$dir/${#jobs[@]}
    mkdir "$store"
    "$here/$script" "$store" "$argument" >"$store/variable" 2>"$store/log" &
    jobs+=($!)
  done
  for store in "${!jobs[@]}"; do
    until [[ -s $dir/$store/variable ]]; do
      if ! kill -0 "${jobs[store]}"; then
        tail -n 30 "$dir/$store/log" >"$dir/failed"
        return
      fi
      sleep 0.1
    done
  done
  cat "$dir"/*/variable
  exec >&-
  wait
}

# keep owns the folder and the stores and clears both away when its standard input ends.
# This script alone holds the other end, so that comes even if it is killed with SIGKILL.
keep() {
  set +e -m
  trap '' INT TERM HUP PIPE
  start &
  exec >&- # only start holds it now
  cat >/dev/null
  kill -KILL -- -$!
  [[ ! -e $dir/command ]] || kill -KILL -- "-$(<"$dir/command")"
  for _ in {1..100}; do # what dies may still be writing
    rm -rf "$dir" && break
    sleep 0.1
  done
}

# Each job below gets a process group: a signal to this script's group must not hit the
# stores before their time, and one to this script must reach all of COMMAND.
set -m
coproc KEEPER { keep 2>/dev/null; }
keeper=$KEEPER_PID
# shellcheck disable=SC2034 # {life}>&- below uses it
life=${KEEPER[1]} variables=${KEEPER[0]} # bash unsets all three when the keeper ends
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

found=0
while read -r -u "$variables" variable; do
  export "${variable?}"
  echo "with-stores.sh: export ${variable/=/=\'}'" >&2
  ((++found))
done
if [[ $found != "${#stores[@]}" ]]; then
  echo "with-stores.sh: the stores did not start:" >&2
  cat "$dir/failed" >&2
  exit 1
fi

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
