// Goal: skerry up does what is missing and nothing else, wherever it was cut short; its units are systemd's. Method: the decisions, as data;
// systemd's own judge.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { decide, makings, sayStep, type Found, type Making, type Step } from '../src/up/decide.ts'
import { differences, listenFor, settle, type Ports } from '../src/up/settled.ts'
import { siteOf, type ServerName } from '../src/up/site.ts'
import { unitName, unitText } from '../src/up/units.ts'
import { skerry } from './terminal.ts'

const run = promisify(execFile)
const ports: Ports = {
  ...{ cloud: 9443, console: 9444, machines: 8444, hostApi: 8443 },
  ...{ workflow: 8281, temporal: 7233, postgres: 7250 },
}
const machine = { ports, programs: { server: '/t/server', sql: '/t/sql' }, bin: '/pg/bin' }
const site = siteOf('/var/lib/site', settle({}, machine), '/usr/bin/node')
const servers = site.servers.map(({ name }) => name)
const titles = new Map(site.servers.map(({ name, title }) => [name, title]))
const nothing: Found = { servers, running: new Set(), made: new Set(), otherVmd: false }

/** The world after a step, as it would be found. */
function after(found: Found, step: Step): Found {
  const [running, made] = [new Set(found.running), new Set(found.made)]
  if (step.do === 'make') made.add(step.what)
  if (step.do === 'start') running.add(step.server)
  if (step.do === 'stop') running.delete(step.server)
  return { ...found, running, made }
}

test('from nothing, everything is made once and started once, and then there is nothing left to do', () => {
  const steps = decide(nothing)
  const made = steps.flatMap((step) => (step.do === 'make' ? [step.what] : []))
  assert.deepEqual(made.toSorted(), [...makings].toSorted())
  const started = steps.flatMap((step) => (step.do === 'start' ? [step.server] : []))
  assert.deepEqual(started.toSorted(), [...servers].toSorted())
  assert.deepEqual(decide(steps.reduce(after, nothing)), [{ do: 'open' }])
})

test('cut short after any step, what is left is what was left', () => {
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

test('after the machine was started anew, everything is started and nothing made', () => {
  const found = { ...nothing, made: new Set<Making>(makings) }
  const steps = decide(found)
  assert.deepEqual(
    steps.filter((step) => step.do === 'make'),
    [],
  )
  assert.equal(steps.filter((step) => step.do === 'start').length, servers.length)
})

test('no server is started before what it needs', () => {
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

test('a vmd of somebody else is taken as it is; our own is started again once it has joined', () => {
  const others = decide({ ...nothing, otherVmd: true })
  assert.ok(!others.some((step) => 'server' in step && step.server === 'vmd'))
  const ours = decide({ ...nothing, running: new Set<ServerName>(['vmd']) })
  const about = ours.map((step) => sayStep(step, titles))
  const stop = about.indexOf('stopping vmd')
  assert.deepEqual(about.slice(stop, stop + 3), [
    'stopping vmd',
    'making this machine its host',
    'starting vmd',
  ])
})

test('with engines of others none is made and none is started', () => {
  const asked = {
    database: 'postgres://db.example/cloud',
    workflowDatabase: 'postgres://db.example/workflow',
    temporal: 'temporal.example:7233',
  }
  const given = siteOf('/d', settle(asked, machine), '/node')
  const names = given.servers.map(({ name }) => name)
  assert.ok(!names.includes('postgres') && !names.includes('temporal'))
  const steps = decide({ ...nothing, servers: names })
  const engines = ['programs', 'cluster', 'databases', 'tables']
  assert.ok(!steps.some((step) => step.do === 'make' && engines.includes(step.what)))
  // With one of the two, the other is ours, in a PostgreSQL of ours.
  const { temporal, ...databases } = asked
  const half = siteOf('/d', settle(databases, machine), '/node')
  assert.deepEqual(
    half.servers.slice(0, 2).map(({ name }) => name),
    ['postgres', 'temporal'],
  )
  assert.equal(half.settled.databases?.cloud, asked.database)
  assert.equal(temporal, 'temporal.example:7233')
})

test('what was settled is not changed by another word later', () => {
  const settled = { base: 'https://a.example', systemd: true } as const
  assert.deepEqual(differences({}, settled), [])
  assert.deepEqual(differences({ base: 'https://a.example' }, settled), [])
  const other = { base: 'https://b.example', workflowDatabase: 'postgres://x/y' }
  assert.deepEqual(differences(other, settled), ['--base', '--workflow-database'])
})

test('a server at a name listens everywhere, at an address only there', () => {
  assert.equal(listenFor('https://127.0.0.2:9444'), '127.0.0.2:9444')
  assert.equal(listenFor('https://cloud.example'), '[::]:443')
  assert.equal(listenFor('https://[::1]:9443'), '[::1]:9443')
})

test('console and cloud are at two hosts, and nobody listens where another machine could ask', () => {
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
test('systemd finds nothing to say against the units of a site', { skip: judge }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'units-'))
  // Programs that are there, in a place that has to be quoted.
  const odd = siteOf('/var/lib/a "site" 100%', settle({ systemd: true }, machine), '/bin/true')
  const units = odd.servers.map((server) => {
    const [, ...words] = server.command
    return {
      name: unitName(server.name),
      text: unitText({ ...server, log: '/var/log/x', command: ['/bin/true', ...words] }),
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

test('whoever is not root is told so, and nothing is touched', async () => {
  for (const name of ['up', 'down']) {
    const { code, err, programs } = await skerry('http://127.0.0.1:9', [name])
    assert.equal(code, 1)
    assert.match(err, new RegExp(`next: sudo skerry ${name}`))
    assert.deepEqual(programs, [])
  }
})
