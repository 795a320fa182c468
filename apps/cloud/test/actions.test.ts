// Goal: nested virtualisation, deploy and undeploy, screens, snapshots and reconfiguration, as clients of either version see them.
// Method: over HTTP, with a real Postgres. Operations stay queued, and the tests inspect the queue.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, localName, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import type { Status } from '../src/domain/vm-status.ts'
import { itemOf } from './rights-table.ts'
import { find, linksOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const get = (path: string, version = '5.1') =>
  api.ask('GET', path, {
    token: api.eng.token,
    headers: { accept: `application/*+xml;version=${version}` },
  })
const put = (path: string, body: string) => api.ask('PUT', path, { token: api.eng.token, body })
const post = (path: string, body = '', version = '5.1') =>
  api.ask('POST', path, {
    token: api.eng.token,
    body,
    headers: { accept: `application/*+xml;version=${version}` },
  })

async function add(status: Status): Promise<{ vm: VmId; path: string; vapp: string }> {
  const { vms, vapp } = await api.cloud.addVms(1, status)
  const [vm] = vms as [VmId]
  await sql`update vm set boot = 'boot-1' where id = ${vm} and status = 'POWERED_ON'`.execute(
    api.cloud.db,
  )
  return { vm, path: `/api/vApp/vm-${vm}`, vapp: `/api/vApp/vapp-${vapp}` }
}

test('nested: version 1.5 does not have it; 5.1 shows the value and links the other one', async () => {
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
  await sql`update vm set nested = true where id = ${vm}`.execute(api.cloud.db)
  const after = read(await get(path))
  assert.equal(attribute(after, 'nestedHypervisorEnabled'), 'true')
  assert.ok(linksOf(after)['disable']?.endsWith('/action/disableNestedHypervisor'))
  assert.equal(linksOf(after)['enable'], undefined)
})

test('nested: only while the VM is off, and only for VMs', async () => {
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

test('deploy and undeploy are aliases of power operations', async () => {
  const operation = async (path: string, body?: string) => {
    const task = read(await post(path, body), 202)
    const row = await api.cloud.db
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

test('a screen ticket is linked and issued only for a VM that is on; 409 in every other status', async () => {
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
  assert.equal(cut, ticket, 'the ticket as client scripts extract it')
  const ticketHash = createHash('sha256').update(secret).digest('hex')
  assert.deepEqual(api.screens.armed.at(-1), { vm, boot: 'boot-1', ticketHash })
  const { rows } = await sql<{ kept: string }>`
    select (select string_agg(to_jsonb(t)::text, '') from screen_ticket t) ||
      (select string_agg(to_jsonb(e)::text, '') from event e) as kept`.execute(api.cloud.db)
  assert.ok(!rows[0]?.kept.includes(secret), 'a reader of the database cannot open a screen')
  assert.equal((await post(`${vapp}/screen/action/acquireTicket`)).status, 400)
  await sql`update vm set host_silent = true where id = ${vm}`.execute(api.cloud.db)
  assert.equal((await post(`${path}/screen/action/acquireTicket`)).status, 409, 'UNKNOWN')
})

test('no ticket is issued if the host does not respond', async () => {
  const { path } = await add('POWERED_ON')
  const count = async () =>
    (await api.cloud.db.selectFrom('screen_ticket').select('vm').execute()).length
  const before = await count()
  api.screens.away = true
  const answer = await post(`${path}/screen/action/acquireTicket`)
  api.screens.away = false
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '2'])
  assert.equal(await count(), before)
})

test('a screenshot is linked in every status: the screen of the current boot, or a black image if there is none', async () => {
  const picture = (path: string, accept = 'image/*;version=5.1') =>
    api.ask('GET', path, { token: api.eng.token, headers: { accept } })
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
  await sql`update vm set boot = 'gone' where id = ${on.vm}`.execute(api.cloud.db)
  assert.match((await picture(`${on.path}/screen`)).text, /PNG/, 'switched off a moment ago')
  api.screens.away = true
  assert.equal((await picture(`${on.path}/screen`)).status, 503)
  api.screens.away = false
  assert.equal((await picture(`${on.vapp}/screen`)).status, 400)
  assert.equal((await picture(`${on.path}/screen`, 'image/*')).status, 406)
})

test('a VM document has the sections that clients expect, and no password', async () => {
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

test('snapshots: both versions show, link and take one, with the actions that it enables', async () => {
  for (const version of ['1.5', '5.1']) {
    const { path } = await add('POWERED_ON')
    const shown = readXml((await get(path, version)).text)
    assert.equal(find(shown, 'SnapshotSection').length, 1, version)
    assert.equal((await get(`${path}/snapshotSection`, version)).status, 200, version)
    const link = pathOf(linksOf(shown)['snapshot:create'] ?? '')
    assert.equal((await post(link, '', version)).status, 202, version)
  }
  const { vm, path, vapp } = await add('POWERED_ON')
  const before = linksOf(read(await get(path)))
  assert.equal(before['snapshot:revertToCurrent'] ?? before['snapshot:removeAll'], undefined)
  assert.equal((await post(`${path}/action/revertToCurrentSnapshot`)).status, 409)
  assert.equal((await post(`${vapp}/action/revertToCurrentSnapshot`)).status, 409)
  const body =
    '<CreateSnapshotParams name="before" memory="false"><Description/></CreateSnapshotParams>'
  const task = read(await post(pathOf(before['snapshot:create'] ?? ''), body), 202)
  assert.equal(attribute(task, 'operationName'), 'vappCreateSnapshot')
  const row = await api.cloud.db
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

test('a VM is found by its bare UUID as well as with a prefix; a vApp needs the prefix', async () => {
  const { vm, path, vapp } = await add('POWERED_OFF')
  const bare = await get(`/api/vApp/${vm}`)
  assert.deepEqual([bare.status, bare.text], [200, (await get(path)).text])
  assert.equal((await post(`/api/vApp/${vm}/action/enableNestedHypervisor`)).status, 202)
  assert.equal((await get(vapp.replace('vapp-', ''))).status, 404)
})

test('an existing snapshot can be reverted to and removed, for a VM and for a vApp', async () => {
  const { vm, path, vapp } = await add('POWERED_OFF')
  await sql`update vm set snapshot = 's', snapshot_name = 'kept', snapshot_on = true,
    snapshot_at = '2026-01-02T03:04:05Z', snapshot_mib = 128 where id = ${vm}`.execute(api.cloud.db)
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
  const row = await api.cloud.db
    .selectFrom('vm')
    .select('projected_status')
    .where('id', '=', vm)
    .executeTakeFirstOrThrow()
  assert.equal(row.projected_status, 'POWERED_ON', 'the snapshot has the memory of a running guest')
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

test('reconfigure: changes sizes by the VM’s own document; only while off, and a disk cannot shrink', async () => {
  const { vm, path } = await add('POWERED_OFF')
  const link = linksOf(read(await get(path)))['reconfigureVm'] ?? ''
  read(await post(pathOf(link), hardware([3, 2], [4, 128], [17, 70], [10, 'x'])), 202)
  const { input } = await api.cloud.db
    .selectFrom('task')
    .select('input')
    .where('vm', '=', vm)
    .executeTakeFirstOrThrow()
  assert.deepEqual(input, { cpus: 2, memoryMiB: 128, diskMiB: 70 })
  const same = (await get(path)).text
  assert.equal(
    (await post(pathOf(link), same)).status,
    202,
    'a document can be sent back as it was read',
  )
  for (const wrong of [hardware([3, 0]), hardware([4, 'much']), hardware([17, 63]), '<Vm/>', '']) {
    assert.equal((await post(pathOf(link), wrong)).status, 400, wrong)
  }
  const on = await add('POWERED_ON')
  assert.equal(linksOf(read(await get(on.path)))['reconfigureVm'], undefined)
  assert.equal((await post(`${on.path}/action/reconfigureVm`, hardware([3, 2]))).status, 409)
})

test('processors and memory have their own addresses: read, changed, sent back', async () => {
  const { vm, path } = await add('POWERED_OFF')
  const section = `${path}/virtualHardwareSection`
  const inputs = () =>
    api.cloud.db.selectFrom('task').select('input').where('vm', '=', vm).orderBy('id').execute()
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
