#!/usr/bin/env bash
# redis.sh FOLDER single|cluster runs one Redis, or a Redis Cluster of three masters, in
# FOLDER, on free ports of loopback, until it is killed. Once it answers, it prints
# KITH_TEST_REDIS=URL or KITH_TEST_REDIS_CLUSTER=ADDRESS,ADDRESS,ADDRESS. with-stores.sh
# runs it and cleans up. It keeps nothing on disk.
set -euo pipefail
unset REDISCLI_AUTH # of a server of this machine

dir=$1 kind=$2
log=$dir/log

# Below the ports that Linux gives to outgoing connections, other than PORT + 10000, where
# the nodes of a cluster would talk to each other.
random_port() { echo $((20000 + RANDOM % 12000)); }

# node OPTION... starts a server and adds its port to ports once it answers. Only bind
# knows whether a port is free, so this tries some. The socket tells it from whatever else
# may listen at a port; it opens after the ports.
ports=()
node() {
  local home port
  for _ in {1..20}; do
    home=$(mktemp -d "$dir/XXXXXX")
    port=$(random_port)
    # Without a file named, it reads none.
    redis-server --bind 127.0.0.1 --port "$port" --unixsocket "$home/socket" --dir "$home" \
      --daemonize no --save "" --appendonly no "$@" &>>"$log" &
    while kill -0 $! 2>/dev/null; do
      if [[ $(redis-cli -s "$home/socket" ping 2>/dev/null) == PONG ]]; then
        ports+=("$port")
        return
      fi
      sleep 0.1
    done
    grep -q 'Address already in use' "$log" || break
  done
  exit 1
}

if [[ $kind == single ]]; then
  node
  echo "KITH_TEST_REDIS=redis://127.0.0.1:${ports[0]}"
  wait
  exit
fi

for _ in {1..3}; do
  # Tests keep all cores busy: a node that is late must not be taken for dead.
  node --cluster-enabled yes --cluster-port "$(random_port)" --cluster-node-timeout 2000
done
addresses=("${ports[@]/#/127.0.0.1:}")
timeout 60 redis-cli --cluster create "${addresses[@]}" --cluster-yes &>>"$log"
for port in "${ports[@]}"; do
  tries=0
  until [[ $(redis-cli -p "$port" cluster info) == *cluster_state:ok* ]]; do
    ((++tries < 300)) || exit 1
    sleep 0.1
  done
done
echo "KITH_TEST_REDIS_CLUSTER=$(IFS=,; echo "${addresses[*]}")"
wait
