// Goal: skerry up does only what is missing, after an interruption at any point; its units are valid. Method: the decisions as data;
// systemd-analyze.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { packagedTemporal } from '@skerry/site'

import { temporalPrograms } from '../src/up/check.ts'
import { asUser } from '../src/up/servers/processes.ts'
import { unitText } from '../src/up/servers/units.ts'
import {
  decide,
  makings,
  sayStep,
  type SiteState,
  type Making,
  type SiteStep,
} from '../src/up/site/decide.ts'
import {
  differences,
  listenFor,
  settle,
  withNetwork,
  type Ports,
} from '../src/up/site/site-plan.ts'
import { serverUsers, siteOf, unitName, type ServerName } from '../src/up/site/site.ts'
import { skerry } from './terminal.ts'

const run = promisify(execFile)
const ports: Ports = {
  cloud: 9443,
  console: 9444,
  machines: 8444,
  hostApi: 8443,
  workflow: 8281,
  workflowMachines: 8282,
  network: 6642,
  temporal: 7233,
  postgres: 7250,
}
const programs = { server: '/t/server', sql: '/t/sql' }
const machine = { ports, programs, bin: '/pg/bin', ovn: true }
const site = siteOf('/var/lib/site', settle({}, machine), '/usr/bin/node')
const servers = site.servers.map(({ name }) => name)
const titles = new Map(site.servers.map(({ name, title }) => [name, title]))
const nothing: SiteState = { servers, running: new Set(), made: new Set(), otherVmd: false }

/** The state after a step, as the next inspection would find it. */
function after(found: SiteState, step: SiteStep): SiteState {
  const [running, made] = [new Set(found.running), new Set(found.made)]
  if (step.do === 'make') made.add(step.what)
  if (step.do === 'start') running.add(step.server)
  if (step.do === 'stop') running.delete(step.server)
  return { ...found, running, made }
}

test('from scratch, everything is created once and started once, and then nothing is left to do', () => {
  const steps = decide(nothing)
  const made = steps.flatMap((step) => (step.do === 'make' ? [step.what] : []))
  assert.deepEqual(made.toSorted(), [...makings].toSorted())
  const started = steps.flatMap((step) => (step.do === 'start' ? [step.server] : []))
  assert.deepEqual(started.toSorted(), [...servers].toSorted())
  assert.deepEqual(decide(steps.reduce(after, nothing)), [{ do: 'open' }])
})

test('a site has a network server only at an address where hosts can find it, and says why not', () => {
  const networkOf = (machines: string) => settle({ machines }, machine)
  assert.equal(networkOf('192.0.2.1:8444').network, '192.0.2.1:6642')
  assert.equal(networkOf('192.0.2.1:8444').noNetwork, undefined)
  for (const address of ['0.0.0.0', '[::]', '[2001:db8::1]', 'cloud.example']) {
    const { network, noNetwork } = networkOf(`${address}:8444`)
    assert.equal(network, undefined)
    assert.ok(noNetwork?.includes(` at ${address};`))
  }
  const { network, noNetwork } = settle({ machines: '0.0.0.0:8444' }, { ...machine, ovn: false })
  assert.deepEqual([network, noNetwork], [undefined, undefined])
})

test('a site that was created without OVN gets a network server when OVN is installed, and only that is added', () => {
  const before = settle({}, { ...machine, ovn: false })
  const later = withNetwork(before, ports)
  assert.deepEqual(later, settle({}, machine))
  assert.equal(withNetwork(later, { network: 6700 }), later)
  const { servers: both } = siteOf('/var/lib/site', later, '/usr/bin/node')
  const names = both.map(({ name }) => name)
  const running = new Set(names.filter((name) => name !== 'network'))
  const made = new Set(makings.filter((each) => each !== 'network'))
  assert.deepEqual(decide({ servers: names, running, made, otherVmd: false }), [
    { do: 'make', what: 'network' },
    { do: 'start', server: 'network' },
    { do: 'open' },
  ])
})

test('after an interruption at any step, the remaining steps are the same', () => {
  const steps = decide(nothing)
  for (let done = 0; done <= steps.length; done++) {
    const left = decide(steps.slice(0, done).reduce(after, nothing))
    const ahead = steps.slice(done)
    const expected = ahead.some((step) => step.do === 'open')
      ? ahead
      : [{ do: 'open' } as const, ...ahead]
    assert.deepEqual(left, expected)
  }
})

test('after a reboot of the machine, everything is started and nothing created', () => {
  const found = { ...nothing, made: new Set<Making>(makings) }
  const steps = decide(found)
  assert.deepEqual(
    steps.filter((step) => step.do === 'make'),
    [],
  )
  assert.equal(steps.filter((step) => step.do === 'start').length, servers.length)
})

test('no server is started before its dependencies', () => {
  const begun = new Set<ServerName>()
  for (const step of decide(nothing)) {
    if (step.do !== 'start') continue
    const { after: needs = [] } = site.servers.find(({ name }) => name === step.server) ?? {}
    assert.deepEqual(
      needs.filter((each) => !begun.has(each)),
      [],
      step.server,
    )
    begun.add(step.server)
  }
})

test('an external vmd is used as it is; our own is restarted once it has joined', () => {
  const others = decide({ ...nothing, otherVmd: true })
  assert.ok(!others.some((step) => 'server' in step && step.server === 'vmd'))
  const ours = decide({ ...nothing, running: new Set<ServerName>(['vmd']) })
  const about = ours.map((step) => sayStep(step, titles))
  const stop = about.indexOf('stopping vmd')
  assert.deepEqual(about.slice(stop, stop + 3), [
    'stopping vmd',
    'joining this machine as a host',
    'starting vmd',
  ])
})

test('a site whose Temporal has no TLS is migrated: its clients are stopped, and restarted after it', () => {
  const made = new Set<Making>(makings.filter((each) => each !== 'certificates'))
  const steps = decide({ ...nothing, made, running: new Set(servers) })
  assert.deepEqual(
    steps.map((step) => sayStep(step, titles)),
    [
      'stopping the workflow worker',
      'stopping the workflow server',
      'stopping the cloud',
      'stopping Temporal',
      'creating the certificates of Temporal',
      'starting Temporal',
      'starting the cloud',
      'starting the workflow server',
      'starting the workflow worker',
      'waiting until VMs can be placed here',
    ],
  )
})

test('external backends are neither created nor started', () => {
  const requested = {
    database: 'postgres://db.example/cloud',
    workflowDatabase: 'postgres://db.example/workflow',
    temporal: 'temporal.example:7233',
  }
  const given = siteOf('/d', settle(requested, machine), '/node')
  const names = given.servers.map(({ name }) => name)
  assert.ok(!names.includes('postgres') && !names.includes('temporal'))
  const steps = decide({ ...nothing, servers: names })
  const engines = ['programs', 'cluster', 'databases', 'tables', 'certificates']
  assert.ok(!steps.some((step) => step.do === 'make' && engines.includes(step.what)))
  // With only one of the two external, the other one is ours and uses our own PostgreSQL.
  const { temporal, ...databases } = requested
  const half = siteOf('/d', settle(databases, machine), '/node')
  assert.deepEqual(
    half.servers.slice(0, 2).map(({ name }) => name),
    ['postgres', 'temporal'],
  )
  assert.equal(half.settled.databases?.cloud, requested.database)
  assert.equal(temporal, 'temporal.example:7233')
})

test('without OVN a site has no network server, and everything else', () => {
  const plain = siteOf('/d', settle({}, { ...machine, ovn: false }), '/node')
  const names = plain.servers.map(({ name }) => name)
  assert.deepEqual(
    names,
    servers.filter((name) => name !== 'network'),
  )
  const steps = decide({ ...nothing, servers: names })
  assert.ok(!steps.some((step) => step.do === 'make' && step.what === 'network'))
})

test('hosts reach the network server where they reach the cell', () => {
  const of = (machines: string) => settle({ machines }, machine).network
  assert.equal(settle({}, machine).network, '127.0.0.1:6642')
  assert.equal(of('192.0.2.7:8444'), '192.0.2.7:6642')
  const { network, noNetwork = '' } = settle({ machines: '[::]:8444' }, machine)
  assert.equal(network, undefined)
  assert.match(noNetwork, /could not find it at \[::\]; create one with skerry admin/)
})

test('the Temporal server of the Debian package is used where there is one, and that of the cache in a clone', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'programs-'))
  const packaged = packagedTemporal(directory.path)
  const { server } = await temporalPrograms('/cache', packaged)
  assert.match(server, /^\/cache\/temporal-v[\d.]+\/server$/)
  await mkdir(dirname(packaged.server))
  await writeFile(packaged.server, '')
  assert.deepEqual(await temporalPrograms('/cache', packaged), packaged)
  // This tree is a clone.
  assert.notDeepEqual(await temporalPrograms('/cache'), packagedTemporal())
})

test('options of an existing site cannot be changed later', () => {
  const settled = { base: 'https://a.example', systemd: true } as const
  assert.deepEqual(differences({}, settled), [])
  assert.deepEqual(differences({ base: 'https://a.example' }, settled), [])
  const other = { base: 'https://b.example', workflowDatabase: 'postgres://x/y' }
  assert.deepEqual(differences(other, settled), ['--base', '--workflow-database'])
})

test('a server with a host name listens on all addresses, one with an IP address only there', () => {
  assert.equal(listenFor('https://127.0.0.2:9444'), '127.0.0.2:9444')
  assert.equal(listenFor('https://cloud.example'), '[::]:443')
  assert.equal(listenFor('https://[::1]:9443'), '[::1]:9443')
})

test('console and cloud have different addresses, and no server is reachable from another machine', () => {
  const { base, console: screens } = site.settled
  assert.notEqual(new URL(base).hostname, new URL(screens).hostname)
  const open = site.servers.flatMap(({ listens }) => listens)
  assert.deepEqual(
    open.filter((place) => !/^127\.0\.0\.[12]:\d+$/.test(place)),
    [],
  )
  assert.equal(new Set(open).size, open.length)
})

const judge = existsSync('/usr/bin/systemd-analyze') ? false : 'needs systemd: apt install systemd'
test('systemd-analyze verify accepts the units of a site', { skip: judge }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'units-'))
  // Existing programs, in a path that needs quotes.
  const odd = siteOf('/var/lib/a "site" 100%', settle({ systemd: true }, machine), '/bin/true')
  const units = odd.servers.map((server) => {
    const [, ...words] = server.command
    return {
      name: unitName(server.name),
      text: unitText({ ...server, command: ['/bin/true', ...words] }, odd.dir),
    }
  })
  for (const { name, text } of units) await writeFile(join(directory.path, name), text)
  const paths = units.map(({ name }) => join(directory.path, name))
  const words = ['verify', '--man=no', '--recursive-errors=no', ...paths]
  const said = await run('systemd-analyze', words, {
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${directory.path}:` },
  })
  assert.deepEqual(said, { stdout: '', stderr: '' })
})

test(
  'each of our servers except vmd has its own user and a sandboxed unit',
  { skip: judge },
  async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'units-'))
    const own = site.servers.filter(({ config }) => config !== undefined)
    assert.deepEqual(new Set(own.map(({ user }) => user)), new Set(serverUsers))
    const asRoot = site.servers.filter(({ user }) => user === undefined).map(({ name }) => name)
    assert.deepEqual(asRoot, ['temporal', 'vmd'])
    for (const server of own) {
      const file = join(directory.path, unitName(server.name))
      await writeFile(file, unitText(server, site.dir))
      const words = ['security', '--offline=true', '--no-pager', '--threshold=30', file]
      await run('systemd-analyze', words)
      assert.doesNotMatch(unitText(server, site.dir), /^Standard(Output|Error)=/m)
    }
  },
)

test('ports below 1024 are the only privilege of a server’s user', () => {
  const { servers: named } = siteOf(
    '/d',
    settle({ base: 'https://cloud.example' }, machine),
    '/node',
  )
  const words = (name: ServerName) => {
    const server = named.find((each) => each.name === name)
    return server ? asUser(server).join(' ') : ''
  }
  assert.match(words('cell'), /--reuid skerry-cell .*--ambient-caps=-all,\+net_bind_service/)
  assert.match(words('console'), /--clear-groups --no-new-privs .*--bounding-set=-all$/)
  assert.match(words('worker'), /--reuid skerry-workflow .*--groups skerry-egress /)
})

test('without root the command fails and changes nothing', async () => {
  for (const name of ['up', 'down']) {
    const { code, err, programs } = await skerry('http://127.0.0.1:9', [name])
    assert.equal(code, 1)
    assert.match(err, new RegExp(`next: sudo skerry ${name}`))
    assert.deepEqual(programs, [])
  }
})
