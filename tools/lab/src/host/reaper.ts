// The first process of a host.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { HOST_MARK } from '../system/processes.ts'

// A shell of 2 MB is enough: it sets up the host's own directories and then reaps orphans forever. It must never be libvirtd: QEMU
// daemonises and so becomes an orphan, which libvirtd does not reap; a domain's destroy would wait for the zombie, and killing
// libvirtd would take the whole host down.
//
// /proc is still the outside one when it reads its own pid, which is how we learn it without a race. /sys is mounted again because
// it shows the links of the network namespace in which it was mounted. Mounts inside are shared among the host's processes, but do
// not propagate outside. The names of other networks are unmounted, or this host would keep other hosts' networks alive. /dev/kvm
// is the host's own node, for the group that Debian gives it to: guests do not run as root, and without udev the machine's node
// belongs to root alone. libvirt would find a KVM that it cannot use and probe QEMU again at every request.
//
// Shared memory is the host's own too: that of a killed PostgreSQL on it would stay in the kernel after a power cut.
const SCRIPT = `
set -eu
dir=$1 name=$2
read -r pid rest </proc/self/stat
mount --make-rshared /
for network in /run/netns/*; do umount --lazy "$network" 2>/dev/null || :; done
put() { mount --bind "$1" "$2"; mount --make-private "$2"; mount --make-shared "$2"; }
put "$dir/run" /run
put "$dir/var" /var/lib/libvirt
put "$dir/etc" /etc/libvirt
put "$dir/cache" /var/cache/libvirt
put "$dir/log" /var/log/libvirt
put "$dir/skerry" /var/lib/skerry
put "$dir/hosts" /etc/hosts
if [ -d "$dir/openvswitch" ]; then
  put "$dir/openvswitch" /etc/openvswitch
  put "$dir/openvswitch" /var/lib/openvswitch
  mkdir /run/openvswitch /run/ovn
fi
if [ -c /dev/kvm ] && getent group kvm >/dev/null; then
  mkdir /run/lab-devices
  mount -t tmpfs -o mode=0755,size=64k tmpfs /run/lab-devices
  cp -a /dev/kvm /run/lab-devices/kvm
  chown root:kvm /run/lab-devices/kvm
  chmod 0660 /run/lab-devices/kvm
  mount --bind /run/lab-devices/kvm /dev/kvm
fi
umount --lazy /sys
mount -t sysfs sysfs /sys
mount -t proc proc /proc
hostname "$name"
ip link set lo up
echo "$pid"
exec >>"$dir/log/first-process.log"
while :; do sleep infinity & wait; done
`

/** Directories that a host has its own copy of; they must exist before something can be mounted there. */
export const MOUNT_POINTS = [
  '/var/lib/libvirt',
  '/etc/libvirt',
  '/var/cache/libvirt',
  '/var/log/libvirt',
  '/var/lib/skerry',
]

/** Starts the first process in its own namespaces and returns its pid as the machine sees it. */
export async function startReaper(host: {
  readonly dir: string
  readonly name: string
  /** Whether the host keeps running when the program that started it ends. */
  readonly outlives: boolean
}): Promise<number> {
  const log = join(host.dir, 'log', 'first-process.log')
  const errors = openSync(log, 'w', 0o600)
  const spaces = ['--net', '--mount', '--pid', '--uts', '--ipc']
  const unshare = [...spaces, '--fork', '--propagation', 'slave']
  const firstProcess = ['sh', '-c', SCRIPT, 'sh', host.dir, host.name]
  const [program = '', ...args] = host.outlives
    ? ['unshare', ...unshare, ...firstProcess]
    : ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--kill-child', ...unshare, ...firstProcess]
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      [HOST_MARK]: host.dir,
    },
    stdio: ['ignore', 'pipe', errors],
  })
  closeSync(errors)
  const pid = await firstLine(child)
  if (pid !== undefined) return Number(pid)
  const said = await readFile(log, 'utf8')
  throw new Error(`${host.name} did not start: ${said.trim() || 'no output of its first process'}`)
}

/** The first line that a process prints, or undefined if it ends without one. Afterwards it no longer keeps us running. */
async function firstLine(child: ChildProcess): Promise<string | undefined> {
  const { stdout } = child
  if (stdout === null) return undefined
  const lines = createInterface({ input: stdout })
  const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?]
  stdout.destroy()
  child.unref()
  return line
}
