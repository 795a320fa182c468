# Runs in the emulated machine, with Debian's kernel. Two hosts are network namespaces; a guest of a host is a namespace behind a veth.
# Three ways between the guests: a flat bridge, VXLAN on a bridge, OVN with Geneve and the kernel's datapath. Offloads are as the kernel
# has them. Prints one line per measurement: figure NAME VALUE.
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
ROUNDS=5
SECONDS_EACH=4
MTU=1442

vsctl() { host=$1; shift; ovs-vsctl --db="unix:/run/host$host/db.sock" "$@"; }
nbctl() { ovn-nbctl --db=unix:/run/central/nb.sock --timeout=60 "$@"; }

start_switch() {
  local dir=/run/host$1
  ip netns exec "host$1" env OVS_RUNDIR="$dir" ovs-vswitchd "unix:$dir/db.sock" -vconsole:off \
    --pidfile="$dir/vswitchd.pid" --unixctl="$dir/vswitchd.ctl" --no-chdir --detach
}

# cable A NETNS-OF-B B MTU: a veth from here to a namespace
cable() {
  ip link add "$1" type veth peer name "$3" netns "$2"
  ip link set "$1" mtu "$4" up
  ip -n "$2" link set "$3" mtu "$4" up
}

# Underlay
ip link add underlay type bridge
ip link set underlay mtu 1700 up
ip addr add 10.90.0.100/24 dev underlay
for host in 1 2; do
  ip netns add "host$host"
  ip -n "host$host" link set lo up
  cable "up$host" "host$host" eth0 1700
  ip link set "up$host" master underlay
  ip -n "host$host" addr add "10.90.0.$host/24" dev eth0
done

# guest NAME HOST ADDRESS [MAC]: leaves its cable tap-NAME in the host
guest() {
  ip netns add "$1"
  ip -n "host$2" link add "tap-$1" type veth peer name eth0 netns "$1"
  [ -z "${4:-}" ] || ip -n "$1" link set eth0 address "$4"
  ip -n "host$2" link set "tap-$1" mtu $MTU up
  ip -n "$1" link set eth0 mtu $MTU up
  ip -n "$1" link set lo up
  ip -n "$1" addr add "$3/24" dev eth0
}

# Flat: the guests' bridge is a second cable to the underlay.
for host in 1 2; do
  ip -n "host$host" link add flat type bridge
  ip -n "host$host" link set flat mtu 1700 up
  cable "flat$host" "host$host" eth1 1700
  ip link set "flat$host" master underlay
  ip -n "host$host" link set eth1 master flat
  guest "flat$host" "$host" "192.168.77.$host"
  ip -n "host$host" link set "tap-flat$host" master flat
done

# VXLAN
for host in 1 2; do
  ip -n "host$host" link add vxlan0 type vxlan id 100 local "10.90.0.$host" remote "10.90.0.$((3 - host))" dstport 4789
  ip -n "host$host" link add vxbr type bridge
  ip -n "host$host" link set vxlan0 mtu $MTU master vxbr up
  ip -n "host$host" link set vxbr up
  guest "vxlan$host" "$host" "192.168.78.$host"
  ip -n "host$host" link set "tap-vxlan$host" master vxbr
done

# OVN
mkdir -p /run/central /var/log
for name in nb sb; do
  ovsdb-tool create /run/central/$name.db /usr/share/ovn/ovn-$name.ovsschema
  listen=
  [ $name = nb ] || listen=--remote=ptcp:6642:10.90.0.100
  ovsdb-server /run/central/$name.db -vconsole:off --remote=punix:/run/central/$name.sock $listen \
    --pidfile=/run/central/$name.pid --unixctl=/run/central/$name.ctl --no-chdir --detach
done
nbctl init
ovn-sbctl --db=unix:/run/central/sb.sock init
ovn-northd -vconsole:off --ovnnb-db=unix:/run/central/nb.sock --ovnsb-db=unix:/run/central/sb.sock \
  --pidfile=/run/central/northd.pid --unixctl=/run/central/northd.ctl --no-chdir --detach
for host in 1 2; do
  dir=/run/host$host
  mkdir -p "$dir"
  ovsdb-tool create "$dir/conf.db" /usr/share/openvswitch/vswitch.ovsschema
  ip netns exec "host$host" ovsdb-server "$dir/conf.db" -vconsole:off --remote="punix:$dir/db.sock" \
    --pidfile="$dir/db.pid" --unixctl="$dir/db.ctl" --no-chdir --detach
  vsctl $host --no-wait init
  vsctl $host --no-wait set open_vswitch . external_ids:system-id=host$host external_ids:ovn-remote=tcp:10.90.0.100:6642 \
    external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip=10.90.0.$host
  start_switch $host
  ip netns exec "host$host" env OVS_RUNDIR="$dir" OVN_RUNDIR="$dir" ovn-controller "unix:$dir/db.sock" -vconsole:off \
    --pidfile="$dir/controller.pid" --no-chdir --detach
done
nbctl ls-add net
for host in 1 2; do
  mac=52:54:00:00:00:0$host
  nbctl lsp-add net ovn$host -- lsp-set-addresses ovn$host "$mac 192.168.79.$host" \
    -- lsp-set-port-security ovn$host "$mac 192.168.79.$host"
  guest "ovn$host" "$host" "192.168.79.$host" $mac
  vsctl $host --timeout=60 add-port br-int "tap-ovn$host" -- set interface "tap-ovn$host" external_ids:iface-id=ovn$host
done
nbctl --wait=hv sync

for way in flat.77 vxlan.78 ovn.79; do
  ip netns exec "${way%.*}1" ping -c 3 -i 0.3 "192.168.${way#*.}.2" >/dev/null || echo "failed: no way by $way"
done
echo "figure datapath $(vsctl 1 get bridge br-int datapath_type | tr -d '"' | sed 's/^$/system/')"
echo "figure tso $(ip netns exec ovn1 ethtool -k eth0 | awk '/^tcp-segmentation-offload/{print $2}')"
echo "figure mtu $(ip netns exec ovn1 ping -c 1 -M do -s $((MTU - 28)) 192.168.79.2 >/dev/null && echo whole || echo cut)"

busy() { awk '/^cpu /{print $2+$3+$4+$6+$7+$8}' /proc/stat; }
tcp() {
  local name=$1 address=$2 before after
  ip netns exec "${name}2" iperf3 --server --one-off --daemon
  until ip netns exec "${name}2" ss -ltn | grep -q :5201; do :; done
  before=$(busy)
  ip netns exec "${name}1" iperf3 --client "$address" --time $SECONDS_EACH --json >/tmp/tcp.json
  after=$(busy)
  local bits
  bits=$(sed -n '/"sum_received"/,/}/s/.*"bits_per_second":[[:space:]]*\([0-9]*\).*/\1/p' /tmp/tcp.json)
  echo "figure $name $((bits / 1000000))"
  echo "figure $name-ticks-per-100MB $(((after - before) * 100000000 / (bits / 8 * SECONDS_EACH)))"
}
for _ in $(seq $ROUNDS); do
  tcp flat 192.168.77.2
  tcp vxlan 192.168.78.2
  tcp ovn 192.168.79.2
done
nbctl acl-add net to-lport 1000 ip4 allow-related
nbctl --wait=hv sync
for _ in $(seq $ROUNDS); do
  tcp ovn 192.168.79.2 | sed 's/figure ovn/figure ovn-filtered/'
done

# The switch is killed and started again while known packets flow: the kernel keeps their flows.
ip netns exec ovn1 ping -i 0.05 -c 200 192.168.79.2 >/tmp/ping &
ping=$!
until [ "$(grep -c icmp_seq /tmp/ping)" -ge 40 ]; do :; done
kill -9 "$(cat /run/host1/vswitchd.pid)"
until [ "$(grep -c icmp_seq /tmp/ping)" -ge 100 ]; do :; done
start_switch 1
wait $ping || true
echo "figure switch-killed-received $(grep -c icmp_seq /tmp/ping)"
