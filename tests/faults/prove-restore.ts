// A backup of the cloud's database is restored, as docs/guides/restore.md describes, under real guests on two hosts with two
// cells; meanwhile VMs were created, deleted, started and stopped, and one was destroyed without the cloud.
// Usage: node tests/faults/prove-restore.ts
// Prints one line of JSON; fails if anything is executed again, a guest is changed, or a VM is not accounted for.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { startLab, until, untilOpen, type LabHost } from '@skerry/lab'

import type { RecoveryStatus } from '../../apps/cloud/src/recovery/recovery-status.ts'
import { backUp, restore } from '../cloud/restore-page.ts'
import { make, power, remove, type Made } from '../cloud/vapps.ts'
import { openPlace, type Place } from './cloud/place.ts'
import { readDomains } from './domains.ts'

const OWN = '/var/lib/skerry/cloud'
const RECOVERED_MS = 120_000
const began = performance.now()
const since = (from: number) => Math.round(performance.now() - from)
const say = (line: string) =>
  void process.stderr.write(`${Math.round(since(began) / 1000)} s: ${line}\n`)

const within = (host: LabHost, path: string) => `/proc/${host.init}/root${path}`
const ordersOf = (host: LabHost) => globSync(within(host, `${OWN}/orders/*-*.json`))

/** All orders of the hosts, file by file. */
const allOrders = ({ hosts }: Place) =>
  Object.fromEntries(
    hosts.flatMap(ordersOf).map((file) => [basename(file, '.json'), readFileSync(file, 'utf8')]),
  )

/** The process of each VM of these hosts: the machine may have other labs. */
function processes(place: Place): Record<string, number> {
  const ours = new Set(Object.keys(allOrders(place)))
  const running = place.qemus.running().filter(({ vm }) => ours.has(vm))
  return Object.fromEntries(running.map(({ vm, pid }) => [vm, pid]))
}

async function domains({ hosts }: Place): Promise<Record<string, string>> {
  const each = await Promise.all(hosts.map((host) => readDomains(host)))
  return Object.fromEntries(
    each.flat().map(({ name, isRunning }) => [name.slice(-36), isRunning ? 'on' : 'off']),
  )
}

function hostOf({ hosts }: Place, { vm }: Made): LabHost {
  const host = hosts.find((one) => existsSync(within(one, `${OWN}/orders/${vm}.json`)))
  assert.ok(host, `a host was ordered VM ${vm}`)
  return host
}

/** Its domain, and all files of vmd about it, while vmd is down. */
async function destroy(host: LabHost, { vm }: Made): Promise<void> {
  const files = [`${OWN}/orders/${vm}.json`, `${OWN}/vms/${vm}.json`, `${OWN}/vms/${vm}.vm`]
  for (const command of [
    ['virsh', 'undefine', `cloud-${vm}`],
    ['rm', '-r', ...files],
  ]) {
    const { code, stderr } = await host.run(command)
    assert.equal(code, 0, stderr)
  }
}

const status = async ({ cloud }: Place) =>
  (await cloud.administer(['recovery', 'info'])) as RecoveryStatus

async function untilStatus(place: Place, what: string, is: (now: RecoveryStatus) => boolean) {
  const look = async () => is(await status(place)) || (await sleep(200), false)
  await until(what, look, RECOVERED_MS)
}

async function shown({ db }: Place, { vm }: Made): Promise<string> {
  const row = await db.selectFrom('vm').selectAll().where('id', '=', vm).executeTakeFirst()
  return row === undefined ? 'unknown' : row.deleted_at === null ? row.displayed_status : 'deleted'
}

/** The number of all tasks that tenants requested. */
const tasks = async ({ cloud }: Place) =>
  Number(await cloud.postgres.psql('select count(*) from task where parent is null', 'cloud'))

/** Every VM of every host has a row or is an orphan, every row is of an existing VM or reports that it is missing. */
async function unaccounted(place: Place): Promise<string[]> {
  const there = await domains(place)
  const rows = await place.db.selectFrom('vm').selectAll().where('deleted_at', 'is', null).execute()
  const orphans = await place.db.selectFrom('orphan').select('vm').execute()
  const known = new Set<string>([...rows.map(({ id }) => id), ...orphans.map(({ vm }) => vm)])
  const words = new Map([
    ['on', 'POWERED_ON'],
    ['off', 'POWERED_OFF'],
    [undefined, 'MISSING'],
  ])
  return [
    ...Object.keys(there).filter((vm) => !known.has(vm)),
    ...rows
      .filter(({ id, displayed_status: word }) => word !== words.get(there[id]))
      .map(({ id }) => id),
  ]
}

await using dir = await mkdtempDisposable(join(tmpdir(), 'restore-'))
await using lab = await startLab({ dir: join(dir.path, 'lab'), hosts: 2, cells: 2 })
await using place = await openPlace(lab)
const { cloud } = place
const [client, other] = place.clients
assert.ok(client && other)
say('the cloud is up')
const [kept, more, stopped, started, deleted, lost] = await Promise.all([
  make(client, 'kept'),
  make(other, 'more'),
  make(client, 'stopped'),
  make(client, 'started', false),
  make(client, 'deleted', false),
  make(client, 'lost', false),
])
const backup = { database: cloud.postgres.urlOf('cloud'), dump: join(dir.path, 'cloud.dump') }
const backUpBegan = performance.now()
await backUp(backup)
const backUpMs = since(backUpBegan)
say('backed up; changing things')

await Promise.all([
  power(client, stopped, 'Off'),
  power(client, started, 'On'),
  remove(client, deleted),
])
const [grown, laid] = await Promise.all([make(client, 'grown'), make(other, 'laid', false)])
const silent = hostOf(place, lost)
await silent.killVmd()
await destroy(silent, lost)
const before = {
  orders: allOrders(place),
  processes: processes(place),
  domains: await domains(place),
}
const runs = [kept, more, started, grown].map(({ vm }) => vm).sort()
assert.deepEqual(Object.keys(before.processes).sort(), runs)
const asBefore = async (when: string) => {
  assert.deepEqual(processes(place), before.processes, `${when}: every guest runs as before`)
  assert.deepEqual(allOrders(place), before.orders, `${when}: no host was ordered anything`)
  assert.deepEqual(await domains(place), before.domains, `${when}: libvirt has what it had`)
}

say('restoring')
const requested = await tasks(place)
for (const cell of cloud.cells) await cell.kill()
const restoreBegan = performance.now()
await restore(backup)
const restoreMs = since(restoreBegan)
const operationsForgotten = requested - (await tasks(place))
await cloud.administer(['recovery', 'start'])
const cellsBegan = performance.now()
for (const cell of cloud.cells) await cell.start()
await untilStatus(place, 'one host is read', ({ hosts }) => hosts.some(({ is }) => is === 'read'))
const oneReadMs = since(cellsBegan)
say('one host is read, the other does not answer')
const refused = await client.ask('POST', `${kept.vapp}/power/action/powerOff`)
assert.equal(refused.status, 503, refused.text)
assert.ok(Number(refused.headers['retry-after']) > 0)
assert.equal((await client.instantiate('never')).status, 503)
assert.equal((await client.ask('GET', kept.vapp)).status, 200)
assert.ok((await status(place)).recovering, 'an unreachable host is waited for')
await asBefore('recovering')

await silent.startVmd()
const backBegan = performance.now()
await untilStatus(place, 'the cloud has recovered', ({ recovering }) => !recovering)
const recoveredMs = since(backBegan)
const { found } = await status(place)
await untilOpen(
  cloud.postgres,
  lab.hosts.map(({ name }) => name),
)
const openMs = since(backBegan)
say(`recovered: ${JSON.stringify(found)}`)
assert.deepEqual(found, {
  'vm.relived': 0,
  'vm.deleted': 1,
  'vm.unmade': 0,
  'vm.missing': 1,
  'undo.dropped': 0,
  'vm.orphaned': 2,
})
const words = await Promise.all(
  [kept, more, stopped, started, deleted, lost, grown, laid].map((each) => shown(place, each)),
)
assert.deepEqual(words, [
  'POWERED_ON',
  'POWERED_ON',
  'POWERED_OFF',
  'POWERED_ON',
  'deleted',
  'MISSING',
  'unknown',
  'unknown',
])
assert.deepEqual(await unaccounted(place), [])
await asBefore('recovered')

say('adopting, and going on')
const orphans = (await cloud.administer(['orphan', 'list'])) as { readonly vm: string }[]
assert.deepEqual(orphans.map(({ vm }) => vm).sort(), [grown.vm, laid.vm].sort())
for (const { vm } of orphans) await cloud.administer(['vm', 'adopt', vm])
assert.deepEqual(processes(place), before.processes, 'adopted unchanged')
assert.deepEqual(
  [await shown(place, grown), await shown(place, laid)],
  ['POWERED_ON', 'POWERED_OFF'],
)
await Promise.all([
  power(client, grown, 'Off'),
  power(client, started, 'Off'),
  remove(client, lost),
  remove(other, laid),
])
await remove(client, await make(client, 'after', false))
assert.deepEqual(await unaccounted(place), [])
const untouched = [kept, more].map(({ vm }) => vm).sort()
assert.deepEqual(Object.keys(processes(place)).sort(), untouched)
for (const vm of untouched) assert.equal(processes(place)[vm], before.processes[vm])
assert.deepEqual(place.qemus.doubled, [])

console.log(
  JSON.stringify({
    proof: 'restore',
    vms: words.length,
    guestsUntouched: runs.length,
    operationsForgotten,
    found,
    backUpMs,
    restoreMs,
    oneReadMs,
    recoveredMs,
    openMs,
    seconds: Math.round(since(began) / 1000),
  }),
)
