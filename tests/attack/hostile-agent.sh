#!/bin/sh
# A hostile guest agent: it replaces the real one, releases the guest's lease, reports addresses that are not its own (a line of
# /tmp/lies per request), and on request stalls: it sends its greeting and answers pings, and is silent from then on.
exec >/dev/null 2>&1
sleep 1
port=
for p in /sys/class/virtio-ports/*; do [ "$(cat "$p/name")" = org.qemu.guest_agent.0 ] && port=/dev/${p##*/}; done
killall -USR2 udhcpc
sleep 1
killall udhcpc
killall -9 qemu-ga
mode=lie
exec 3</tmp/lies
# Without a process for each line: under emulation that would take most of the time.
agent() {
  while read -r line; do
    id=${line#*\"id\":}
    id=${id%%\}*}
    case "$line" in
      *guest-sync-delimited*) printf '\377{"return": %s}\n' "$id" ;;
      *guest-sync*) printf '{"return": %s}\n' "$id" ;;
      *guest-ping*) printf '{"return":{}}\n' ;;
      *be-silent*) mode=stall; printf '{"return":{}}\n' ;;
      *guest-network-get-interfaces*)
        if [ $mode = lie ]; then
          read -r reply <&3 || { exec 3</tmp/lies; read -r reply <&3; }
          printf '%s\n' "$reply"
        fi ;;
      *) [ $mode = lie ] && printf '{"return":{}}\n' ;;
    esac
  done
}
# Keeps the port open while its other end is not connected, which reads as an end of file: libvirt connects when it is opened.
stay() {
  while :; do
    agent
    sleep 1
  done
}
until stay <>"$port" >&0; do sleep 1; done
