# The first process of a node, alone in namespaces of its own: when it ends, so do all others, and their mounts.
# $1 is the node's folder. /var and /run are the node's own, so that nothing of it appears in those of the machine.
set -eu
dir=$1
mount --bind "$dir/var" /var
mount -t tmpfs tmpfs /run
mkdir -p /run/lock
ip link set lo up
# No server is there to look names up, so that fails at once.
[ ! -e /etc/resolv.conf ] || mount --bind "$dir/resolv.conf" /etc/resolv.conf
# The kubelet sets these for the whole machine. Here it finds them set, and the machine stays as it is.
mkdir -p /run/sysctl
while read -r setting value; do
  [ -e "/proc/sys/$setting" ] || continue
  echo "$value" > "/run/sysctl/$(basename "$setting")"
  mount --bind "/run/sysctl/$(basename "$setting")" "/proc/sys/$setting"
done <<END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END
echo 1 > /proc/sys/net/ipv4/ip_forward
: > "$dir/ready"
# Waiting also takes note of the end of processes that have lost their parents.
while :; do
  sleep 86400 &
  wait
done
