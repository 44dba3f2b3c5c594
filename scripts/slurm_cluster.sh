#!/usr/bin/env bash
# A real Slurm on this machine, for tests and to try the Slurm runner: munged, slurmctld and a few
# slurmd on loopback, without systemd, all of it in one folder.
#
#   scripts/slurm_cluster.sh start DIR [--nodes N] [LINE...]   LINE is added to slurm.conf
#   scripts/slurm_cluster.sh start-part DIR PART               PART: munge, controller, n1, n2, ...
#   scripts/slurm_cluster.sh stop-part DIR PART                in order
#   scripts/slurm_cluster.sh kill-part DIR PART                at once, as a crash would
#   scripts/slurm_cluster.sh stop DIR                          ends all; the folder stays
#
# Use it with SLURM_CONF=DIR/slurm.conf. Ports are free ones of this moment, so that several clusters
# can stand side by side. Partitions: main (the default), and low, whose jobs make way for those of
# high. The nodes n1, n2, ... have the features n1, n2, ... and share this machine's cores.
set -euo pipefail
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

complain() { echo "slurm_cluster.sh: $*" >&2; exit 1; }
usage() { sed -n '5,9s/^# *//p' "$0" >&2; exit 2; }

pid_of() { cat "$dir/run/$1.pid" 2>/dev/null || true; }
alive() {  # and no zombie, which a container's first process may leave for ever
  local pid
  pid=$(pid_of "$1")
  [ -n "$pid" ] && grep -q '^State:[[:space:]][^ZX]' "/proc/$pid/status" 2>/dev/null
}

launch() {  # launch PART COMMAND...
  local part=$1
  shift
  setsid env SLURM_CONF="$dir/slurm.conf" "$@" >>"$dir/log/$part.out" 2>&1 </dev/null &
  echo $! >"$dir/run/$part.pid"
}

start_part() {
  case $1 in
    munge)
      rm -f "$dir/munge.socket" "$dir/munge.socket.lock"
      launch munge munged -F --force --num-threads=2 --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
        --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" --seed-file="$dir/munge.seed"
      for _ in $(seq 100); do
        if munge -n -S "$dir/munge.socket" >/dev/null 2>&1; then return; fi
        alive munge || break
        sleep 0.05
      done
      complain "munged did not start, see $dir/log/munge.out: $(tail -n 2 "$dir/log/munge.out")" ;;
    controller) launch controller slurmctld -D ;;
    n[0-9]*) launch "$1" slurmd -D -N "$1" ;;
    *) usage ;;
  esac
}

kill_part() {  # kill_part PART SIGNAL
  local pid
  pid=$(pid_of "$1")
  if [ -n "$pid" ]; then kill "-$2" "$pid" 2>/dev/null || true; fi
  for _ in $(seq 100); do
    alive "$1" || { rm -f "$dir/run/$1.pid"; return; }
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$dir/run/$1.pid"
}

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_ports() {  # the first of N ports in a row that nobody listens on
  for _ in $(seq 100); do
    local first=$((20000 + RANDOM % 10000)) free=1
    for ((i = 0; i < $1; ++i)); do if taken $((first + i)); then free=0; fi; done
    if [ "$free" = 1 ]; then echo "$first"; return; fi
  done
  complain "found no $1 free ports in a row between 20000 and 30000"
}

write_config() {
  local nodes=$1 port host user
  shift
  port=$(free_ports $((nodes + 1)))
  host=$(hostname -s)
  user=$(id -un)
  {
    cat <<CONF
ClusterName=nightshift
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=300
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
CONF
    for ((i = 1; i <= nodes; ++i)); do
      echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=$(nproc) RealMemory=1000 Feature=n$i"
    done
    echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF"
    echo "PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1"
    echo "PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF"
    for line in "$@"; do echo "$line"; done
  } >"$dir/slurm.conf"
}

wait_until_idle() {
  local nodes=$1 idle=0
  for _ in $(seq 300); do
    for part in munge controller $(seq -f 'n%g' "$nodes"); do
      alive "$part" || complain "$part ended, see $dir/log: $(tail -n 3 "$dir/log/$part.out")"
    done
    idle=$(SLURM_CONF="$dir/slurm.conf" timeout 5 sinfo -h -N -p main -t idle -o %N 2>/dev/null | grep -c . || true)
    if [ "$idle" -ge "$nodes" ]; then return; fi
    sleep 0.1
  done
  complain "after 30 s $idle of $nodes nodes are idle, see $dir/log"
}

start() {
  local nodes=2
  if [ "${1:-}" = --nodes ]; then nodes=$2; shift 2; fi
  for program in munged munge slurmctld slurmd sinfo; do
    command -v "$program" >/dev/null || complain "$program is missing: apt-get install slurm-wlm munge (scripts/deps.sh --test)"
  done
  if [ ${#dir} -gt 80 ]; then complain "the folder's path is too long for a socket (80 characters): $dir"; fi
  if alive controller; then complain "a cluster runs in $dir already; stop it first"; fi
  rm -rf "$dir"/{state,log,run,munge.key} "$dir"/spool-*
  mkdir -p "$dir"/{state,log,run}
  (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
  write_config "$nodes" "$@"
  # Whatever goes wrong from here on leaves nothing running.
  trap 'status=$?; if [ $status -ne 0 ]; then stop; fi' EXIT
  for part in munge controller $(seq -f 'n%g' "$nodes"); do start_part "$part"; done
  wait_until_idle "$nodes"
}

stop() {
  # Jobs first, in order; nothing of the rest is needed again, so it is killed.
  if alive controller; then
    export SLURM_CONF="$dir/slurm.conf"
    timeout 5 scancel --user="$(id -un)" 2>/dev/null || true
    for _ in $(seq 30); do
      if [ -z "$(timeout 5 squeue -h -t R,CG -o %i 2>/dev/null)" ]; then break; fi
      sleep 0.1
    done
  fi
  for pid in "$dir"/run/*.pid; do kill_part "$(basename "$pid" .pid)" KILL; done
  # What a dead node or controller left: it has our configuration in its environment.
  for environ in /proc/[0-9]*/environ; do
    local pid=${environ#/proc/}
    pid=${pid%/environ}
    if ! grep -qzxF "SLURM_CONF=$dir/slurm.conf" "$environ" 2>/dev/null; then continue; fi
    case "$(cat "/proc/$pid/comm" 2>/dev/null)" in
      slurmstepd* | slurmd* | slurmctld* | slurmscriptd*) kill -KILL "$pid" 2>/dev/null || true ;;
      *) if grep -qz '^SLURM_JOB_ID=' "$environ" 2>/dev/null; then kill -KILL "$pid" 2>/dev/null || true; fi ;;
    esac
  done
}

[ $# -ge 2 ] || usage
verb=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
case $verb in
  start) start "$@" ;;
  start-part) start_part "${1:?which part?}" ;;
  stop-part) kill_part "${1:?which part?}" TERM ;;
  kill-part) kill_part "${1:?which part?}" KILL ;;
  stop) stop ;;
  *) usage ;;
esac
