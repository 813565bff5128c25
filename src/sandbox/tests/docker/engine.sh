#!/bin/sh
# engine.sh FOLDER LOCK: runs a container engine of its own in FOLDER for as long as somebody holds LOCK, and three
# seconds more, for tests come one after the other. Then it stops the engine and leaves nothing.
folder=$1 lock=$2 name=$(basename "$1")

dockerd --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/pid" --host "unix://$folder/sock" \
  --cgroup-parent "/$name" --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --bridge=none \
  >"$folder/log" 2>&1 &
engine=$!

stop() {
  kill "$engine" 2>/dev/null
  wait "$engine"
  awk -v "below=$folder/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l
  rm -rf "$folder"
  find /sys/fs/cgroup -depth -type d -path "*/$name*" -exec rmdir {} + 2>/dev/null
}

while kill -0 "$engine" 2>/dev/null; do
  # Waits until nobody holds it.
  flock --exclusive "$lock" true
  sleep 3
  exec 9<"$lock"
  if flock --exclusive --nonblock 9; then
    stop
    exit 0
  fi
  exec 9<&-
done
