// Goal: the cloud-init data of a guest reaches its host only, and nothing of it remains after the VM is created.
// Method: documents over HTTP, tasks executed by the same functions that Temporal calls, a simulated host; canaries are searched
// in every row of every table, in responses, and in the host's reports.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import { makeSeal } from '@skerry/service'
import type { VmId } from '@skerry/vm'
import { attribute, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { seal } from './cloud-database.ts'
import { BASE, find, hrefOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'
import { workQueue } from './work-queue.ts'

const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOb0nZpu2ZCzSfzvFxQ0BkTjpkVUXoqm1hP9wF6cTXJG me@home'
const CANARY = `canary-${randomBytes(12).toString('hex')}`
const DOCUMENT = `#cloud-config\nchpasswd: { users: [{ name: root, password: "${CANARY}" }] }\n`

let api: TenantsApi
let host: SimulatedHost
before(async () => {
  api = await openTenantsApi()
  host = simulatedHost()
})
after(() => api[Symbol.asyncDispose]())

const post = (path: string, body: string, headers = {}) =>
  api.ask('POST', path, { token: api.eng.token, body, headers })
const source = () => `<Source href="${BASE}/api/vAppTemplate/${api.eng.ids['template']}"/>`
const section = (inside: string) =>
  `<GuestCustomizationSection>${inside}</GuestCustomizationSection>`
const instantiate = (name: string, inside: string, headers = {}) =>
  post(
    `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`,
    `<InstantiateVAppTemplateParams name="${name}" powerOn="false">${source()}${section(inside)}</InstantiateVAppTemplateParams>`,
    headers,
  )
const vmsIn = (vapp: Element) => find(vapp, 'Children', 'Vm')
const idOf = (vm: Element | undefined): VmId => hrefOf(vm).slice(-36) as VmId
const shownGuest = (vm: Element | undefined) => {
  assert.ok(vm)
  const [shown] = find(vm, 'GuestCustomizationSection')
  assert.ok(shown)
  return ['Enabled', 'ComputerName'].map((name) => text(find(shown, name)[0]))
}

/** Executes all tasks in the VM's queue. */
async function work(vm: VmId, opens = seal): Promise<void> {
  await workQueue({ db: api.cloud.db, hosts: () => host, seal: opens }, vm)
}

/** Every row of every table, as text. */
async function allRows(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(api.cloud.db)
  const texts: string[] = []
  for (const { name } of tables) {
    const table = sql.table(name)
    const { rows } = await api.cloud.asOwner((db) =>
      sql<{ row: string }>`select ${table}::text as row from ${table}`.execute(db),
    )
    texts.push(...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}
const kept = async () => (await api.cloud.db.selectFrom('guest_seed').selectAll().execute()).length

test('a cloud-init document reaches the host of its VM, and is stored nowhere else', async () => {
  const headers = { 'idempotency-key': 'told' }
  const made = await instantiate(
    'told',
    `<ComputerName>web-1</ComputerName><UserData>\n${DOCUMENT}</UserData>`,
    headers,
  )
  const [vm] = vmsIn(read(made, 201))
  assert.deepEqual(shownGuest(vm), ['true', 'web-1'])
  assert.equal(await kept(), 1)
  const before = await allRows()
  assert.ok(before.length > 1000 && !before.includes(CANARY))
  await work(idOf(vm))
  assert.deepEqual(host.seedOf(idOf(vm)), { hostname: 'web-1', userData: DOCUMENT })
  assert.equal(await kept(), 0, 'the VM is created: the data is no longer needed')
  const shown = await api.ask('GET', pathOf(hrefOf(vm)), { token: api.eng.token })
  const records = JSON.stringify(await Array.fromAsync(host.records()))
  for (const said of [await allRows(), made.text, shown.text, records]) {
    assert.ok(!said.includes(CANARY))
    assert.ok(!said.includes(Buffer.from(DOCUMENT).toString('base64').slice(0, 40)))
  }
  const again = read(
    await instantiate(
      'told',
      `<ComputerName>web-1</ComputerName><UserData>\n${DOCUMENT}</UserData>`,
      headers,
    ),
    201,
  )
  assert.equal(hrefOf(vmsIn(again)[0]), hrefOf(vm), 'the same request returns the same VM')
})

test('each composed VM gets its SSH keys, with a host name derived from its name', async () => {
  const item = (name: string, inside: string) =>
    `<SourcedItem>${source().replace('/>', ` name="${name}"/>`)}${inside}</SourcedItem>`
  const items = [
    item('db_1', section(`<SshKey> ${KEY}\n</SshKey><SshKey>${KEY} too</SshKey>`)),
    item('plain', ''),
  ]
  const made = read(
    await post(
      `/api/vdc/${api.eng.ids['vdc']}/action/composeVApp`,
      `<ComposeVAppParams name="composed">${items.join('')}</ComposeVAppParams>`,
    ),
    201,
  )
  const [db, plain] = ['db_1', 'plain'].map((name) =>
    vmsIn(made).find((each) => attribute(each, 'name') === name),
  )
  assert.deepEqual([db, plain].map(shownGuest), [
    ['true', 'db-1'],
    ['false', 'plain'],
  ])
  for (const each of vmsIn(made)) await work(idOf(each))
  assert.deepEqual(host.seedOf(idOf(db)), { hostname: 'db-1', sshKeys: [KEY, `${KEY} too`] })
  assert.ok(host.find(idOf(plain)))
  assert.equal(host.seedOf(idOf(plain)), undefined)
})

test('invalid guest data is 400, and the response does not repeat it', async () => {
  const wrong = [
    ['<ComputerName>a.b</ComputerName>', /host name/],
    [`<SshKey>${CANARY}</SshKey>`, /one line/],
    [`<SshKey>${KEY}</SshKey><UserData>#cloud-config ${CANARY}</UserData>`, /not both/],
    [`<UserData>${'x'.repeat(16_385)}</UserData>`, /at most 16384 bytes/],
    [`<UserData>${'ü'.repeat(8193)}</UserData>`, /at most 16384 bytes/],
    ['<UserData> \n </UserData>', /must not be empty/],
    [`<SshKey>${KEY}</SshKey>`.repeat(33), /32 SshKeys/],
    ['<UserData>a</UserData><UserData>b</UserData>', /one UserData/],
  ] as const
  for (const [inside, message] of wrong) {
    const answer = await instantiate('wrong', inside)
    assert.equal(answer.status, 400, inside.slice(0, 80))
    assert.match(answer.text, message)
    assert.ok(!answer.text.includes(CANARY))
  }
  const largest = await instantiate('largest', `<UserData>${'x'.repeat(16_384)}</UserData>`)
  const [vm] = vmsIn(read(largest, 201))
  await work(idOf(vm))
  assert.equal(host.seedOf(idOf(vm))?.userData?.length, 16_384)
})

test('guest data is deleted if the VM is not created: canceled, failed, or sealed with another key', async () => {
  const made = async (name: string) => {
    const vapp = read(await instantiate(name, `<UserData>${DOCUMENT}</UserData>`), 201)
    return { vm: idOf(vmsIn(vapp)[0]), task: hrefOf(find(vapp, 'Tasks', 'Task')[0]) }
  }
  const stopped = await made('stopped')
  const cancel = await post(`${pathOf(stopped.task)}/action/cancel`, '')
  assert.equal(cancel.status, 204)
  assert.equal(await kept(), 0)

  const foreign = await made('foreign')
  const other = makeSeal(
    () => randomBytes(32).toString('base64'),
    () => randomBytes(12),
  )
  await work(foreign.vm, other)
  assert.equal(await kept(), 0)
  assert.equal(host.find(foreign.vm), undefined, 'no VM is created without its data')
  const row = await api.cloud.db
    .selectFrom('task')
    .select(['state', 'message'])
    .where('vm', '=', foreign.vm)
    .executeTakeFirstOrThrow()
  assert.equal(row.state, 'error')
  assert.match(row.message ?? '', /cannot decrypt/)
})

test('sealed data is opened only with its key, for its own VM, and unchanged', () => {
  const sealed = seal.close(CANARY, 'vm-1')
  assert.equal(seal.open(sealed, 'vm-1'), CANARY)
  assert.throws(() => seal.open(sealed, 'vm-2'), { kind: 'conflict' })
  for (const at of [0, 12, 28, sealed.length - 1]) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8((changed.readUInt8(at) ^ 1) & 0xff, at)
    assert.throws(() => seal.open(changed, 'vm-1'), { kind: 'conflict' })
  }
  const without = makeSeal(
    () => undefined,
    () => randomBytes(12),
  )
  assert.throws(() => without.close(CANARY, 'vm-1'), { kind: 'unavailable' })
})
