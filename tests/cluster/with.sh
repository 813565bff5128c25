#!/usr/bin/env bash
# A Slurm cluster of this one host, for the time of a command: Debian's slurm-wlm with a configuration of its own.
#
#   tests/cluster/with.sh install       installs what is missing (as root, from Debian's packages)
#   tests/cluster/with.sh COMMAND...    runs COMMAND while munged, slurmctld and slurmd run, with in its environment:
#     SLURM_CONF             the cluster's configuration, which sbatch, squeue and scontrol read
#     PODIUM_SLURM_MISSING   instead: why there is none here
#
# It listens on ports of its own and keeps everything in a temporary folder. The daemons of Slurm need root.
set -uo pipefail

say_missing() { export PODIUM_SLURM_MISSING=$1; }

install() {
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge; } >/dev/null 2>&1
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

configure() {
  local host
  host=$(hostname -s)
  cat >"$place/slurm.conf" <<CONF
ClusterName=podium
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
AuthType=auth/munge
# A task that was put back begins again after so many seconds.
AuthInfo=socket=$place/munge.socket,cred_expire=3
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,defer_batch
KillWait=5
MinJobAge=3600
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  # So that no other file of this host is looked for.
  printf 'CgroupAutomount=no\n' >"$place/cgroup.conf"
}

daemons=()
stop() {
  for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null; done
  wait "${daemons[@]}" 2>/dev/null
  rm -rf "$place"
}

# start NAME COMMAND...: a daemon that stays in the foreground.
start() {
  local name=$1
  shift
  "$@" >"$place/$name.out" 2>&1 &
  daemons+=($!)
}

# up: waits until the node can be given work; it fails when a daemon ends, or after a minute.
up() {
  for _ in $(seq 240); do
    sinfo -h -o %T 2>/dev/null | grep -qx idle && return
    for daemon in "${daemons[@]}"; do kill -0 "$daemon" 2>/dev/null || return 1; done
    sleep 0.25
  done
  return 1
}

cluster() {
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null ||
    { say_missing "slurmctld, slurmd and munged are not installed"; return; }
  [ "$(id -u)" = 0 ] || { say_missing "the daemons of Slurm need root"; return; }
  mkdir -p "$place/state" "$place/spool"
  chmod 755 "$place"
  configure
  head -c 1024 /dev/urandom >"$place/munge.key" && chmod 400 "$place/munge.key"
  start munged munged --foreground --force --key-file "$place/munge.key" --socket "$place/munge.socket" \
    --pid-file "$place/munge.pid" --seed-file "$place/munge.seed" --log-file "$place/munge.log"
  export SLURM_CONF=$place/slurm.conf
  start slurmctld slurmctld -D -i
  start slurmd slurmd -D
  up || say_missing "it did not start here: $(tail -n 1 "$place"/slurmctld.log "$place"/slurmd.log "$place"/*.out 2>/dev/null | grep . | tail -n 1)"
}

[ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
install || true
[ "$1" = install ] && exit
unset SLURM_CONF PODIUM_SLURM_MISSING
place=$(mktemp -d)
trap stop EXIT
cluster
"$@"
