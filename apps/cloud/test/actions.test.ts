// Goal: the nested switch, deploy and undeploy, and tickets to screens, as a client of either version meets them.
// Method: over HTTP, with a real Postgres; what is asked stays queued, which is what is looked at.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, localName, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import type { Status } from '../src/vm-status.ts'
import { itemOf } from './rights-table.ts'
import { find, linksOf, openDoor, pathOf, read, type Door } from './tenants-door.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

const get = (path: string, version = '5.1') =>
  door.ask('GET', path, {
    token: door.eng.token,
    headers: { accept: `application/*+xml;version=${version}` },
  })
const put = (path: string, body: string) => door.ask('PUT', path, { token: door.eng.token, body })
const post = (path: string, body = '', version = '5.1') =>
  door.ask('POST', path, {
    token: door.eng.token,
    body,
    headers: { accept: `application/*+xml;version=${version}` },
  })

async function add(status: Status): Promise<{ vm: VmId; path: string; vapp: string }> {
  const { vms, vapp } = await door.cloud.addVms(1, status)
  const [vm] = vms as [VmId]
  await sql`update vm set boot = 'boot-1' where id = ${vm} and status = 'POWERED_ON'`.execute(
    door.cloud.db,
  )
  return { vm, path: `/api/vApp/vm-${vm}`, vapp: `/api/vApp/vapp-${vapp}` }
}

test('nested: 1.5 knows nothing of it; 5.1 shows what it is and links the other', async () => {
  const { vm, path } = await add('POWERED_OFF')
  const old = readXml((await get(path, '1.5')).text)
  assert.equal(attribute(old, 'nestedHypervisorEnabled'), undefined)
  assert.equal(linksOf(old)['enable'], undefined)
  const refused = await post(`${path}/action/enableNestedHypervisor`, '', '1.5')
  assert.equal(refused.status, 406)
  assert.match(refused.text, /5\.1/)
  const young = read(await get(path))
  assert.equal(attribute(young, 'nestedHypervisorEnabled'), 'false')
  assert.equal(linksOf(young)['disable'], undefined)
  const task = read(await post(pathOf(linksOf(young)['enable'] ?? '')), 202)
  assert.equal(attribute(task, 'operationName'), 'vappUpdateVm')
  const again = await post(`${path}/action/enableNestedHypervisor`)
  assert.equal(again.status, 202, 'repeating it succeeds')
  await sql`update vm set nested = true where id = ${vm}`.execute(door.cloud.db)
  const after = read(await get(path))
  assert.equal(attribute(after, 'nestedHypervisorEnabled'), 'true')
  assert.ok(linksOf(after)['disable']?.endsWith('/action/disableNestedHypervisor'))
  assert.equal(linksOf(after)['enable'], undefined)
})

test('nested: only while off, only of a VM', async () => {
  for (const status of ['POWERED_ON', 'SUSPENDED', 'UNRESOLVED'] as const) {
    const { path } = await add(status)
    assert.equal(linksOf(read(await get(path)))['enable'], undefined, status)
    assert.equal((await post(`${path}/action/enableNestedHypervisor`)).status, 409, status)
  }
  const { vapp } = await add('POWERED_OFF')
  assert.equal((await post(`${vapp}/action/enableNestedHypervisor`)).status, 400)
})

const undeployBy = (word: string) =>
  `<UndeployVAppParams><UndeployPowerAction>${word}</UndeployPowerAction></UndeployVAppParams>`

test('deploy and undeploy are power by other names', async () => {
  const operation = async (path: string, body?: string) => {
    const task = read(await post(path, body), 202)
    const row = await door.cloud.db
      .selectFrom('task')
      .select('operation')
      .where('id', '=', (attribute(task, 'id') ?? '').slice(-36) as never)
      .executeTakeFirstOrThrow()
    return row.operation
  }
  const off = await add('POWERED_OFF')
  const links = linksOf(read(await get(off.path)))
  assert.equal(links['undeploy'], undefined)
  assert.equal(
    await operation(`${off.path}/action/deploy`, '<DeployVAppParams powerOn="false"/>'),
    'deploy',
  )
  assert.equal(await operation(pathOf(links['deploy'] ?? '')), 'powerOn')
  const words = {
    powerOff: 'powerOff',
    force: 'powerOff',
    suspend: 'suspend',
    shutdown: 'shutdown',
  }
  for (const [word, expected] of Object.entries(words)) {
    const on = await add('POWERED_ON')
    const path = pathOf(linksOf(read(await get(on.vapp)))['undeploy'] ?? '')
    assert.equal(await operation(path, undeployBy(word)), expected)
  }
  const { path } = await add('POWERED_ON')
  assert.equal(await operation(`${path}/action/undeploy`), 'powerOff')
  assert.equal((await post(`${path}/action/undeploy`, undeployBy('toString'))).status, 400)
})

const statuses = ['POWERED_OFF', 'SUSPENDED', 'UNRESOLVED', 'RESOLVED', 'FAILED_CREATION'] as const

test('a ticket is for a screen that is on: linked then, and 409 in every other status', async () => {
  for (const status of statuses) {
    const { path } = await add(status)
    assert.equal(linksOf(read(await get(path)))['screen:acquireTicket'], undefined, status)
    const answer = await post(`${path}/screen/action/acquireTicket`)
    assert.equal(answer.status, 409, status)
    assert.equal(localName(readXml(answer.text).name), 'Error')
  }
  const { vm, path, vapp } = await add('POWERED_ON')
  const link = linksOf(read(await get(path)))['screen:acquireTicket'] ?? ''
  const answer = await post(pathOf(link), '', '1.5')
  const ticket = text(readXml(answer.text)) ?? ''
  assert.equal(answer.status, 200)
  assert.equal(
    answer.headers['content-type'],
    'application/vnd.skerry.cloud.screenTicket+xml;version=1.5',
  )
  assert.match(ticket, /^mks:\/\/console\.example\/vm-[0-9a-f-]{36}\?ticket=[\w-]{43}$/)
  assert.match(answer.text, /<ScreenTicket [^>]*>mks:[^\n]*<\/ScreenTicket>/, 'on one line')
  const secret = ticket.split('ticket=')[1] ?? ''
  const element = readXml(answer.text)
  assert.equal(attribute(element, 'wss'), `wss://console.example/screen/vm-${vm}?ticket=${secret}`)
  const left = Date.parse(attribute(element, 'expires') ?? '') - Date.now()
  assert.ok(left > 20_000 && left <= 30_000, `${left} ms`)
  const [, , cut] =
    answer.text
      .split('\n')
      .find((line) => line.includes('ScreenTicket'))
      ?.split(/[<|>]/) ?? []
  assert.equal(cut, ticket, 'as scripts of this family cut it out')
  const ticketHash = createHash('sha256').update(secret).digest('hex')
  assert.deepEqual(door.screens.armed.at(-1), { vm, boot: 'boot-1', ticketHash })
  const { rows } = await sql<{ kept: string }>`
    select (select string_agg(to_jsonb(t)::text, '') from screen_ticket t) ||
      (select string_agg(to_jsonb(e)::text, '') from event e) as kept`.execute(door.cloud.db)
  assert.ok(!rows[0]?.kept.includes(secret), 'nobody who reads the database sees a screen')
  assert.equal((await post(`${vapp}/screen/action/acquireTicket`)).status, 400)
  await sql`update vm set unseen = true where id = ${vm}`.execute(door.cloud.db)
  assert.equal((await post(`${path}/screen/action/acquireTicket`)).status, 409, 'UNKNOWN')
})

test('a ticket to a host that does not answer is not given out', async () => {
  const { path } = await add('POWERED_ON')
  const count = async () =>
    (await door.cloud.db.selectFrom('screen_ticket').select('vm').execute()).length
  const before = await count()
  door.screens.away = true
  const answer = await post(`${path}/screen/action/acquireTicket`)
  door.screens.away = false
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '2'])
  assert.equal(await count(), before)
})

test('a picture of a screen is linked in every status: what the host sees of this boot, and black where there is none', async () => {
  const picture = (path: string, accept = 'image/*;version=5.1') =>
    door.ask('GET', path, { token: door.eng.token, headers: { accept } })
  const on = await add('POWERED_ON')
  for (const version of ['1.5', '5.1']) {
    const link = linksOf(readXml((await get(on.path, version)).text))['screen:thumbnail'] ?? ''
    const {
      status,
      headers,
      text: seen,
    } = await picture(pathOf(link), `image/*;version=${version}`)
    assert.deepEqual([status, headers['content-type']], [200, 'image/png'])
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(seen, `the picture of ${on.vm} in boot-1`)
  }
  for (const status of statuses) {
    const { path } = await add(status)
    const link = linksOf(read(await get(path)))['screen:thumbnail'] ?? ''
    const { headers, text: black } = await picture(pathOf(link))
    assert.equal(headers['content-type'], 'image/png', status)
    assert.match(black, /PNG\r\n[^]*IHDR[^]*IDAT[^]*IEND/, status)
  }
  await sql`update vm set boot = 'gone' where id = ${on.vm}`.execute(door.cloud.db)
  assert.match((await picture(`${on.path}/screen`)).text, /PNG/, 'switched off a moment ago')
  door.screens.away = true
  assert.equal((await picture(`${on.path}/screen`)).status, 503)
  door.screens.away = false
  assert.equal((await picture(`${on.vapp}/screen`)).status, 400)
  assert.equal((await picture(`${on.path}/screen`, 'image/*')).status, 406)
})

test('what a VM is made of is shown as clients expect it, and no password', async () => {
  const { path } = await add('POWERED_OFF')
  const vm = read(await get(path))
  const items = find(vm, 'VirtualHardwareSection', 'Item').map((item) => [
    text(find(item, 'ResourceType')[0]),
    text(find(item, 'VirtualQuantity')[0]),
  ])
  assert.deepEqual(items, [
    ['3', '1'],
    ['4', '64'],
    ['17', '64'],
  ])
  assert.equal(find(vm, 'GuestCustomizationSection', 'ComputerName').length, 1)
})

test('snapshots: 1.5 knows nothing of them; 5.1 takes one, shows it, and links what it makes possible', async () => {
  const { vm, path, vapp } = await add('POWERED_ON')
  const old = readXml((await get(path, '1.5')).text)
  assert.deepEqual(
    [linksOf(old)['snapshot:create'], find(old, 'SnapshotSection').length],
    [undefined, 0],
  )
  assert.equal((await get(`${path}/snapshotSection`, '1.5')).status, 406)
  assert.equal((await post(`${path}/action/createSnapshot`, '', '1.5')).status, 406)
  const before = linksOf(read(await get(path)))
  assert.equal(before['snapshot:revertToCurrent'] ?? before['snapshot:removeAll'], undefined)
  assert.equal((await post(`${path}/action/revertToCurrentSnapshot`)).status, 409)
  assert.equal((await post(`${vapp}/action/revertToCurrentSnapshot`)).status, 409)
  const body =
    '<CreateSnapshotParams name="before" memory="false"><Description/></CreateSnapshotParams>'
  const task = read(await post(pathOf(before['snapshot:create'] ?? ''), body), 202)
  assert.equal(attribute(task, 'operationName'), 'vappCreateSnapshot')
  const row = await door.cloud.db
    .selectFrom('task')
    .select('input')
    .where('vm', '=', vm)
    .executeTakeFirstOrThrow()
  assert.deepEqual(row.input, { name: 'before', memory: false })
  for (const wrong of [
    '<Other/>',
    '<CreateSnapshotParams memory="maybe"/>',
    '<CreateSnapshotParams name=""/>',
  ]) {
    assert.equal((await post(`${path}/action/createSnapshot`, wrong)).status, 400, wrong)
  }
})

test('a snapshot that there is can be reverted to and removed, of a VM and of a vApp', async () => {
  const { vm, path, vapp } = await add('POWERED_OFF')
  await sql`update vm set snapshot = 's', snapshot_name = 'kept', snapshot_on = true,
    snapshot_at = '2026-01-02T03:04:05Z' where id = ${vm}`.execute(door.cloud.db)
  for (const each of [path, vapp]) {
    const section = read(await get(`${each}/snapshotSection`))
    const [shown] = find(section, 'Snapshot')
    assert.deepEqual(
      [attribute(shown, 'name'), attribute(shown, 'created'), attribute(shown, 'poweredOn')],
      ['kept', '2026-01-02T03:04:05.000Z', 'true'],
    )
    assert.equal(attribute(shown, 'size'), String(128 * 1024 ** 2))
  }
  const links = linksOf(read(await get(vapp)))
  assert.ok(links['snapshot:removeAll'])
  const task = read(await post(pathOf(links['snapshot:revertToCurrent'] ?? '')), 202)
  assert.equal(attribute(task, 'operationName'), 'vappRevertToCurrentSnapshot')
  const row = await door.cloud.db
    .selectFrom('vm')
    .select('desired')
    .where('id', '=', vm)
    .executeTakeFirstOrThrow()
  assert.equal(row.desired, 'POWERED_ON', 'it kept the memory of a guest that ran')
  const own = linksOf(read(await get(path)))
  assert.ok(own['snapshot:revertToCurrent'] && own['power:powerOff'])
  read(await post(`${path}/action/removeAllSnapshots`), 202)
})

const hardware = (...items: readonly (readonly [kind: number, quantity: number | string])[]) =>
  `<Vm xmlns:ovf="urn:o" xmlns:rasd="urn:r"><ovf:VirtualHardwareSection>${items
    .map(
      ([kind, quantity]) =>
        `<ovf:Item><rasd:ResourceType>${kind}</rasd:ResourceType><rasd:VirtualQuantity>${quantity}</rasd:VirtualQuantity></ovf:Item>`,
    )
    .join('')}</ovf:VirtualHardwareSection></Vm>`

test('reconfigure: what a VM shall have, as its own document says it; while off, and a disk only grows', async () => {
  const { vm, path } = await add('POWERED_OFF')
  const link = linksOf(read(await get(path)))['reconfigureVm'] ?? ''
  read(await post(pathOf(link), hardware([3, 2], [4, 128], [17, 70], [10, 'x'])), 202)
  const { input } = await door.cloud.db
    .selectFrom('task')
    .select('input')
    .where('vm', '=', vm)
    .executeTakeFirstOrThrow()
  assert.deepEqual(input, { cpus: 2, memoryMiB: 128, diskMiB: 70 })
  const same = (await get(path)).text
  assert.equal((await post(pathOf(link), same)).status, 202, 'what was read can be sent back')
  for (const wrong of [hardware([3, 0]), hardware([4, 'much']), hardware([17, 63]), '<Vm/>', '']) {
    assert.equal((await post(pathOf(link), wrong)).status, 400, wrong)
  }
  const on = await add('POWERED_ON')
  assert.equal(linksOf(read(await get(on.path)))['reconfigureVm'], undefined)
  assert.equal((await post(`${on.path}/action/reconfigureVm`, hardware([3, 2]))).status, 409)
})

test('processors and memory, each at its own address: read, changed, sent back', async () => {
  const { vm, path } = await add('POWERED_OFF')
  const section = `${path}/virtualHardwareSection`
  const inputs = () =>
    door.cloud.db.selectFrom('task').select('input').where('vm', '=', vm).orderBy('id').execute()
  for (const [part, quantity] of [
    ['cpu', 2],
    ['memory', 256],
  ] as const) {
    const item = (await get(`${section}/${part}`)).text
    const changed = item.replace(/(VirtualQuantity>)\d+/, `$1${quantity}`)
    read(await put(`${section}/${part}`, changed), 202)
  }
  assert.deepEqual(
    (await inputs()).map(({ input }) => input),
    [{ cpus: 2 }, { memoryMiB: 256 }],
  )
  for (const wrong of [itemOf(4, 2), itemOf(3, 0), itemOf(3, 'many'), '<Item/>', '<Vm/>', '']) {
    assert.equal((await put(`${section}/cpu`, wrong)).status, 400, wrong)
  }
  const on = await add('POWERED_ON')
  assert.equal((await put(`${on.path}/virtualHardwareSection/cpu`, itemOf(3, 2))).status, 409)
})
