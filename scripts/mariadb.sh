#!/usr/bin/env bash
# mariadb.sh FOLDER FLUSH runs a MariaDB in FOLDER, on a free port of loopback, until it
# is killed, and prints KITH_TEST_MYSQL=DSN once it answers. FLUSH says how to flush the
# log at a commit: 1 for a disk, 2 for speed. with-stores.sh runs it and cleans up.
set -euo pipefail
PATH=$PATH:/usr/sbin

dir=$1 flush=$2
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

"${install[@]}" &>>"$log"
# Only bind knows whether a port is free, so this tries some, below those that Linux gives
# to outgoing connections.
for _ in {1..20}; do
  port=$((20000 + RANDOM % 12000))
  "${server[@]}" --port=$port &>>"$log" &
  while kill -0 $! 2>/dev/null; do
    if mariadb --no-defaults -uroot -S "$socket" -e 'DO 1' &>/dev/null; then
      echo "KITH_TEST_MYSQL=root@tcp(127.0.0.1:$port)/"
      wait
      exit
    fi
    sleep 0.1
  done
  grep -q 'Address already in use' "$log" || break
done
exit 1
