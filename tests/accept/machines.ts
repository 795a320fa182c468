// Machines on which the pages of docs/guides are typed word for word: each has its own /etc/skerry, /etc/default, /var/lib/skerry
// and host names, and the addresses that the pages use. Differences from a user's run: sudo is not used, ssh needs no key, and
// only `systemctl` in START starts services, which runs the command of the package's unit with its user and capabilities.
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import {
  freePorts,
  guestImage,
  startBalancerProcess,
  startLab,
  startPostgres,
  startTemporal,
  until,
  type Lab,
  type LabHost,
} from '@skerry/lab'
import { temporalPorts } from '@skerry/site'

import { openWindow } from '../../tools/lab/src/servers/window.ts'
import { isAlive } from '../../tools/lab/src/system/processes.ts'
import { buildDeb } from '../../tools/package/build-deb.ts'
import { blocksIn } from './doc-blocks.ts'

const run = promisify(execFile)
const PAGES = join(import.meta.dirname, '../../docs/guides')
export const PASSWORD = 'a password of four words'
/** Starting servers wait for others to start. */
const BLOCK_MS = 300_000

/** Values that a page asks its reader to fill in. */
const DATABASE = 'postgres://postgres@db.example/cloud'

/** All names resolve to the address of their machine; a server without an address is contacted on the machine's own loopback. */
const addresses = {
  'cell-1': '192.0.2.11',
  'cell-2': '192.0.2.12',
  'console-1': '192.0.2.13',
  'workflow-1': '192.0.2.14',
} as const
const names = {
  'cloud.example': '192.0.2.11',
  'console.example': '192.0.2.13',
  'workflow.example': '192.0.2.14',
  'db.example': '127.0.0.1',
  'temporal.example': '127.0.0.1',
}

/** The users that the package creates, with unused uids. */
const users = ['cell', 'console', 'workflow', 'egress'].map((name) => `skerry-${name}`)
const FIRST_ID = 64_201
const userLines = {
  passwd: (name: string, id: number) => `${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin`,
  group: (name: string, id: number) => `${name}:x:${id}:`,
}

const HOLD = `
set -eu
mount --bind "$1/etc" /etc/skerry
mount --bind "$1/default" /etc/default
mount --bind "$1/state" /var/lib/skerry
mount --bind "$1/images" /var/lib/skerry/cloud-images
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/group" /etc/group
echo held
exec sleep infinity
`

/** For the shell of every block. */
const START = `
set -euo pipefail
sudo() { if [ "$1" = -u ]; then shift 2; fi; "$@"; }
ssh() { local pid; pid=$(cat "$MACHINES/$1/pid"); shift 2; nsenter -t "$pid" -m -- "$@"; }
word() { sed -n "s/^$2=//p" "$TREE/lib/systemd/system/$1.service"; }
stop() {
  if [ ! -e "$MACHINE/$1.pid" ]; then return; fi
  local pid; pid=$(cat "$MACHINE/$1.pid")
  kill "$pid" 2>/dev/null || true
  while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"; do read -rt 0.05 <> <(:) || :; done
  rm "$MACHINE/$1.pid"
}
confined() {
  local user groups caps; user=$(word "$1" User); groups=$(word "$1" SupplementaryGroups)
  caps=$(word "$1" CapabilityBoundingSet | sed 's/^CAP_/,+/' | tr A-Z a-z)
  echo --reuid "$user" --regid "$user" --no-new-privs "--bounding-set=-all$caps" "--inh-caps=-all$caps" "--ambient-caps=-all$caps"
  if [ -n "$groups" ]; then echo --groups "$groups"; else echo --clear-groups; fi
}
start() {
  local CONFIG command
  eval "$(word "$1" Environment)"
  if [ -e "/etc/default/$1" ]; then . "/etc/default/$1"; fi
  line() { word "$1" "$2" | sed "s|^[+]||; s|/usr/lib/skerry|$TREE/usr/lib/skerry|g; s|[$]{CONFIG}|$CONFIG|"; }
  command=$(line "$1" ExecStart)
  $(line "$1" ExecStartPre)
  setsid setpriv $(confined "$1") -- $command >>"$MACHINE/$1.log" 2>&1 </dev/null &
  echo $! >"$MACHINE/$1.pid"
}
systemctl() {
  local verb=$1 unit; shift
  if [ "$1" = --now ]; then shift; fi
  for unit in "$@"; do
    if [ "$verb" != start ]; then stop "$unit"; fi
    if [ "$verb" != stop ]; then start "$unit"; fi
  done
}
`

export interface Machines extends AsyncDisposable {
  readonly lab: Lab
  /** Types all blocks of a page, each on the machine that its first line names; returns the output. */
  type(page: string): Promise<string>
  /** Runs a line on a machine. */
  on(machine: string, script: string): Promise<string>
}

export async function openMachines(dir: string): Promise<Machines> {
  await using opened = new AsyncDisposableStack()
  const lab = opened.use(await startLab({ dir: join(dir, 'lab'), hosts: 2, vmd: true }))
  const { netns } = lab
  const tree = await unpack(dir)
  const startTemporalAgain = await startEngines(opened, dir, netns)
  const machines = join(dir, 'machines')
  await mkdir(machines)
  await writeFile(join(machines, 'start.sh'), START)
  const made: Record<string, Machine> = {
    db: await hold(opened, { machines, netns, name: 'db' }),
    temporal: await hold(opened, { machines, netns, name: 'temporal' }),
  }
  for (const [name, address] of Object.entries(addresses)) {
    await run('ip', ['-n', netns, 'address', 'add', `${address}/24`, 'dev', 'lab'])
    made[name] = await hold(opened, { machines, netns, name })
  }
  await copyFile(await guestImage('small'), join(machines, 'cell-1', 'debian-12.qcow2'))
  for (const [at, host] of lab.hosts.entries()) {
    const command = ['address', 'add', `192.0.2.${21 + at}/24`, 'dev', 'eth0']
    await run('ip', ['-n', host.netns, ...command])
  }
  const env = {
    HOME: '/root',
    LC_ALL: 'C.UTF-8',
    PASSWORD,
    TREE: tree,
    MACHINES: machines,
    PGHOST: '127.0.0.1',
    PGUSER: 'postgres',
    PATH: `${tree}/usr/bin:/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  }
  let invitation = ''
  const on = async (name: string, script: string): Promise<string> => {
    if (name === 'temporal') {
      // The test restarts it; its settings name the copied files.
      assert.match(script, /^sudo systemctl restart temporal$/m)
      all.use(await startTemporalAgain(join(machines, 'temporal', 'etc', 'temporal')))
      return ''
    }
    const host = hostNamed(lab, name)
    if (host) return typeOnHost(host, script.replace(/^sudo skerry vmd join.*$/m, invitation), env)
    const { pid, directory } = made[name] ?? assert.fail(`the page names a machine ${name}`)
    const enter = ['-t', String(pid), '-m', '-n', `--wdns=${directory}`, '--', 'bash', '-c']
    const options = { env: { ...env, MACHINE: directory }, timeout: BLOCK_MS }
    const { stdout } = await run(
      'nsenter',
      [...enter, `. "$MACHINES/start.sh"\n${script}`],
      options,
    )
    invitation = /^skerry vmd join .*$/m.exec(stdout)?.[0] ?? invitation
    return stdout
  }
  const all = opened.move()
  return {
    lab,
    on,
    async type(page) {
      let said = ''
      for (const { machine, script } of await blocksOf(page)) said += await on(machine, script)
      return said
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function blocksOf(page: string): Promise<{ machine: string; script: string }[]> {
  const text = await readFile(join(PAGES, page), 'utf8')
  return blocksIn(text).map((block) => {
    const script = block.replaceAll('DATABASE', DATABASE)
    const [, machine = ''] = /^# on (\S+)$/m.exec(script) ?? []
    assert.notEqual(machine, '', `${page}: a block says where it is typed\n${block}`)
    return { machine, script }
  })
}

/** The programs as they are installed. */
async function unpack(dir: string): Promise<string> {
  const deb = await buildDeb({ out: join(dir, 'package'), quick: true })
  const tree = join(dir, 'tree')
  await run('dpkg-deb', ['-x', deb, tree])
  return tree
}

/** Returns a function that starts Temporal, given the directory of its certificates. */
async function startEngines(
  opened: AsyncDisposableStack,
  dir: string,
  netns: string,
): Promise<(certificates: string) => Promise<AsyncDisposable>> {
  const postgres = opened.use(
    await startPostgres(join(dir, 'postgres'), { netns, port: 5432, durable: false }),
  )
  const port = await freePorts(temporalPorts)
  opened.use(await openWindow(join(dir, 'window'), { netns, ports: [port] }))
  // At its default port. The machine's own loopback may have another one there.
  const behind = [{ host: '127.0.0.1', port }]
  opened.use(
    await startBalancerProcess(join(dir, 'temporal-door'), behind, {
      netns,
      port: 7233,
      outlives: false,
    }),
  )
  return (certificates) =>
    startTemporal(join(dir, 'temporal'), postgres, { netns, port, certificates })
}

interface Machine {
  readonly pid: number
  readonly directory: string
}

interface Held {
  readonly machines: string
  readonly netns: string
  readonly name: string
}

async function hold(
  opened: AsyncDisposableStack,
  { machines, netns, name }: Held,
): Promise<Machine> {
  const directory = join(machines, name)
  for (const part of ['etc', 'default', 'state/cloud-images']) {
    await mkdir(join(directory, part), { recursive: true })
  }
  // All cells share the images.
  const images = join(machines, 'images')
  await mkdir(images, { recursive: true })
  await run('ln', ['-sfn', images, join(directory, 'images')])
  const lines = Object.entries({ localhost: '127.0.0.1', ...names }).map(
    ([host, at]) => `${at} ${host}`,
  )
  for (const [file, line] of Object.entries(userLines)) {
    const text = await readFile(`/etc/${file}`, 'utf8')
    const own = users.map((user, at) => line(user, FIRST_ID + at))
    await writeFile(join(directory, file), `${text.trimEnd()}\n${own.join('\n')}\n`)
  }
  await writeFile(join(directory, 'hosts'), `${lines.join('\n')}\n`)
  await mkdir('/etc/skerry', { recursive: true })
  const inside = [`--net=/run/netns/${netns}`, 'unshare', '--mount', '--propagation', 'private']
  const command = ['--pdeathsig', 'KILL', 'nsenter', ...inside, 'sh', '-c', HOLD, 'sh', directory]
  const child = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  opened.defer(() => release(child, directory))
  await once(child.stdout, 'data')
  const pid = child.pid ?? assert.fail('the machine has a process')
  await writeFile(join(directory, 'pid'), String(pid))
  return { pid, directory }
}

/** Its servers first: each has recorded its pid when it was started. */
async function release(child: ChildProcess, directory: string): Promise<void> {
  for (const file of (await readdir(directory)).filter((name) => name.endsWith('.pid'))) {
    const pid = Number(await readFile(join(directory, file), 'utf8'))
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    await until('a server has ended', () => !isAlive(pid))
  }
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  await rmdir('/etc/skerry').catch(() => undefined)
}

function hostNamed(lab: Lab, name: string): LabHost | undefined {
  return lab.hosts.find((host) => host.name === name)
}

/** The lab restarts vmd of a host. */
async function typeOnHost(host: LabHost, script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const restart = 'sudo systemctl restart skerry-vmd'
  const lines = script.split('\n').filter((line) => line !== restart)
  const words = ['bash', '-c', `set -euo pipefail\nsudo() { "$@"; }\n${lines.join('\n')}`]
  const { code, stdout, stderr } = await host.run(words, { env })
  assert.equal(code, 0, `${host.name}: ${stderr}`)
  if (script.includes(restart)) {
    await host.killVmd('SIGTERM')
    await host.startVmd()
  }
  return stdout
}
