// A cloud from the Debian package on a Debian 12 that has nothing: `apt install ./skerry.deb && skerry up` on a machine with systemd that
// has no Node, npm or Go, then a VM, the machine switched off and on, `skerry up` again, and everything removed.
// Usage: node tests/accept/prove-package-up.ts [PACKAGE.deb]; without a package it builds one.
// Prints one line of JSON: the sizes, and the seconds of each command. The network of the machine leads only to Debian's archive.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { requirePrograms } from '../../tools/lab/src/system/packages.ts'
import { run } from '../../tools/lab/src/system/run.ts'
import { until } from '../../tools/lab/src/system/wait.ts'
import { buildDeb } from '../../tools/package/build-deb.ts'
import { DebianMachine } from '../faults/debian-machine.ts'
import { openArchive } from './archive-relay.ts'

const TEMPORAL = '/usr/lib/skerry/temporal/temporal-server'
const START_MS = 120_000
const MIB = 1024 ** 2

requirePrograms('host', 'debian', 'package')
const began = performance.now()
const seconds: Record<string, number> = {}
const say = (line: string) =>
  void process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`)
async function timed<Result>(line: string, work: () => Promise<Result>): Promise<Result> {
  say(line)
  const start = performance.now()
  const result = await work()
  seconds[line] = Number(((performance.now() - start) / 1000).toFixed(1))
  return result
}

await using stack = new AsyncDisposableStack()
const work = await mkdtemp(join(tmpdir(), 'prove-package-up-'))
stack.defer(() => rm(work, { recursive: true, force: true }))
const deb = process.argv[2] ?? (await buildDeb({ out: work, quick: true }))
say('making a Debian of nothing but systemd')
const machine = stack.use(await DebianMachine.make([]))
await copyFile(deb, join(machine.root, 'root/skerry.deb'))
await machine.boot()
const archive = stack.use(await openArchive(machine, work))
const shell = (line: string) => [
  'env',
  `http_proxy=${archive.proxy}`,
  'DEBIAN_FRONTEND=noninteractive',
  'bash',
  '-ec',
  `cd /root; ${line}`,
]
const type = (line: string) => timed(line, () => machine.run(shell(line)))

await machine.run(shell('apt-get update'))
// As on a Debian with its default settings: the machine of the proof leaves recommended packages out by itself.
await type('apt-get install -y -o APT::Install-Recommends=true ./skerry.deb')
for (const name of ['node', 'npm', 'go']) {
  assert.notEqual((await machine.attempt(shell(`command -v ${name}`))).code, 0, name)
}
const answers = async () => (await machine.curl('-f', 'http://127.0.0.1:8080/api/vms')).code === 0
await until('vmd should answer', answers, START_MS)

const first = await machine.attempt(shell('command -v skerry'))
assert.equal(first.stdout, '/usr/bin/skerry\n')
const said = await timed('skerry up', () => machine.attempt(shell('skerry up')))
assert.equal(said.code, 0, `${said.stderr}\n${said.stdout}`)
assert.match(said.stdout, /^log in as +owner@home$/m)
assert.doesNotMatch(said.stderr, /building Temporal/)

interface SiteSummary {
  readonly cloud: string
  readonly ca: string
  readonly user: string
  readonly password: string
  readonly workflow: string
  readonly servers: readonly { readonly name: string; readonly pid?: number }[]
}
const readSite = async () =>
  JSON.parse(await machine.run(['skerry', 'up', '--json'])) as SiteSummary
const temporalOf = async ({ servers }: SiteSummary) => {
  const pid = servers.find(({ name }) => name === 'temporal')?.pid
  return (await machine.run(['readlink', `/proc/${pid}/exe`])).trim()
}
const site = await readSite()
assert.equal(await temporalOf(site), TEMPORAL)

const login = ['skerry', 'login', 'home', site.cloud, '--user', site.user, '--ca', site.ca]
await machine.run([...login, '--workflow', site.workflow], { input: site.password })
// A cell creates a VM by a task that Temporal runs.
await type('skerry create first --template debian-12 --start')
const isOn = async () =>
  (await machine.attempt(['skerry', 'list', '--state', 'powered on'])).stdout.includes('first')
assert.ok(await isOn())

say('switching the machine off and on')
await machine.powerOff()
await machine.boot()
await until('vmd should answer', answers, START_MS)
const again = await timed('skerry up, again', () => machine.attempt(['skerry', 'up']))
assert.equal(again.code, 0, again.stderr)
assert.doesNotMatch(again.stderr, /creating|building|joining/)
assert.equal(await temporalOf(await readSite()), TEMPORAL)
await until('the VM should be on again', isOn, START_MS)

say('removing everything')
for (const line of ['skerry stop first --force', 'skerry rm first', 'skerry down --forget --yes']) {
  await machine.run(['bash', '-ec', line])
}
await machine.run(['env', 'SKERRY_PURGE=vms', 'apt-get', 'purge', '-y', 'skerry'])
// A Debian of nothing has no ps.
const { stdout: processes } = await machine.attempt(shell('cat /proc/[0-9]*/cmdline'))
assert.doesNotMatch(processes, /temporal|apps\/\w+\/src\/main\.ts/)
for (const path of ['usr/lib/skerry', 'var/lib/skerry'])
  assert.ok(!existsSync(join(machine.root, path)), path)

const kib = Number(await run(['dpkg-deb', '-f', deb, 'Installed-Size']))
console.log(
  JSON.stringify({
    proof: 'package-up',
    packageMib: Math.round((await stat(deb)).size / MIB),
    installedMib: Math.round(kib / 1024),
    commands: seconds,
    seconds: Math.round((performance.now() - began) / 1000),
  }),
)
