// The first process of a host.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { HOST_MARK } from './processes.ts'

// A shell of 2 MB, because that is all there is to do: it puts the host's own directories in place and then reaps orphans
// for ever. It must never be libvirtd: QEMU daemonises and so becomes an orphan, which libvirtd does not reap; a domain's
// destroy would wait for the zombie, and killing libvirtd would take the whole host down.
//
// /proc is still the outside one when its own number is read, which is how we learn it without a race. /sys is mounted anew
// because it shows the links of the network namespace in which it was mounted. What is mounted inside is shared among the
// host's processes, but nothing of it reaches the outside. The names of other networks are let go, or this host would keep
// other hosts' networks alive.
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
umount --lazy /sys
mount -t sysfs sysfs /sys
mount -t proc proc /proc
hostname "$name"
ip link set lo up
echo "$pid"
exec >>"$dir/log/first-process.log"
while :; do sleep infinity & wait; done
`

/** Directories of the machine that a host has one of its own of; they must exist before something can be mounted there. */
export const MOUNT_POINTS = [
  '/var/lib/libvirt',
  '/etc/libvirt',
  '/var/cache/libvirt',
  '/var/log/libvirt',
  '/var/lib/skerry',
]

/** Starts the first process in namespaces of its own and answers its pid, in the machine's numbering. */
export async function startReaper(host: {
  readonly dir: string
  readonly name: string
  /** Whether the host goes on when the program that started it ends. */
  readonly outlives: boolean
}): Promise<number> {
  const log = join(host.dir, 'log', 'first-process.log')
  const errors = openSync(log, 'w')
  const unshare = ['--net', '--mount', '--pid', '--uts', '--fork', '--propagation', 'slave']
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
  throw new Error(`${host.name} did not start: ${said.trim() || 'its first process said nothing'}`)
}

/** The first line a process prints, or undefined when it ends without one. Afterwards it no longer keeps us running. */
async function firstLine(child: ChildProcess): Promise<string | undefined> {
  const { stdout } = child
  if (stdout === null) return undefined
  const lines = createInterface({ input: stdout })
  const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?]
  stdout.destroy()
  child.unref()
  return line
}
