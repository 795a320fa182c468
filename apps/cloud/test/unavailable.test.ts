// Goal: a document that is asked for it says about every action either where it is or why it is not there. Method: every status × every
// role, for VMs, vApps and vdcs; what is named unavailable is also sent, and rejected for that reason.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { roles, type Role } from '../src/domain/roles.ts'
import { vappOperations } from '../src/operations/vapp-operations.ts'
import { operations } from '../src/operations/vm-operations.ts'
import { find, openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const everyRole = Object.keys(roles) as Role[]
const statuses = [
  'POWERED_ON',
  'POWERED_OFF',
  'SUSPENDED',
  'UNRESOLVED',
  'RESOLVED',
  'FAILED_CREATION',
] as const

/** The relations of all actions of a VM and of a vApp, from the table of operations. */
const relsOf = (all: readonly { readonly action?: { readonly rel: string } }[]): string[] =>
  all.flatMap(({ action }) => action?.rel ?? [])
const ofVm = ['remove', 'edit', 'screen:acquireTicket', 'screen:thumbnail', ...relsOf(operations)]
const ofVapp = ['remove', 'edit', 'recompose', ...relsOf(vappOperations)]

const rels = (root: Element, name: 'Link' | 'Unavailable'): string[] =>
  find(root, name).map((each) => attribute(each, 'rel') ?? '')

async function read(path: string, token: string, accept?: string): Promise<Element> {
  const answer = await api.ask('GET', path, { token, ...(accept && { headers: { accept } }) })
  assert.equal(answer.status, 200, answer.text)
  return readXml(answer.text)
}

function requireEither(root: Element, actions: readonly string[], what: string): void {
  const [links, refused] = [rels(root, 'Link'), rels(root, 'Unavailable')]
  for (const rel of new Set(actions)) {
    const times = [links, refused].map((all) => all.filter((each) => each === rel).length)
    assert.ok(times[0] === 0 ? times[1] === 1 : times[1] === 0, `${what}: ${rel} ${times.join()}`)
  }
  for (const each of find(root, 'Unavailable')) {
    assert.match(attribute(each, 'because') ?? '', /^\S.{8,}[^.]$/, what)
    assert.match(attribute(each, 'code') ?? '', /^(right|state|nothing|closed)$/, what)
  }
}

test('every action of a VM and of a vApp is a link or has a reason: status × role', async () => {
  for (const status of statuses) {
    const { vapp, vms } = await api.cloud.addVms(2, status)
    for (const role of everyRole) {
      const token = await api.enter(api.eng.org, role)
      const what = `${role}, ${status}`
      requireEither(await read(`/api/vApp/vm-${vms[0]}?unavailable=true`, token), ofVm, what)
      const whole = await read(`/api/vApp/vapp-${vapp}?unavailable=true`, token)
      requireEither(whole, ofVapp, what)
      for (const vm of find(whole, 'Children', 'Vm')) requireEither(vm, ofVm, what)
    }
  }
})

test('what is unavailable is rejected if it is sent anyway, or would change nothing', async () => {
  const expected: Readonly<Record<string, readonly number[]>> = {
    right: [403],
    state: [409],
    nothing: [202, 409],
  }
  for (const status of ['POWERED_ON', 'POWERED_OFF', 'SUSPENDED'] as const) {
    for (const role of ['console only', 'user', 'author'] as const) {
      const token = await api.enter(api.eng.org, role)
      const { vms } = await api.cloud.addVms(1, status)
      const path = `/api/vApp/vm-${vms[0]}`
      const shown = await read(`${path}?unavailable=true`, token)
      const codes = new Map(
        find(shown, 'Unavailable').map((each) => [attribute(each, 'rel'), attribute(each, 'code')]),
      )
      for (const { action, takes } of operations) {
        const code = codes.get(action?.rel)
        if (!action || takes || code === undefined) continue
        const { status: got } = await api.ask('POST', `${path}/${action.path}`, { token })
        assert.ok(
          expected[code]?.includes(got),
          `${role}, ${status}, ${action.rel}: ${code} ${got}`,
        )
      }
    }
  }
})

const because = (root: Element, rel: string): readonly (string | undefined)[] => {
  const found = find(root, 'Unavailable').find((each) => attribute(each, 'rel') === rel)
  return [attribute(found, 'code'), attribute(found, 'because')]
}

test('reasons name the state, the right, the end and the missing snapshot', async () => {
  const { vms, vapp } = await api.cloud.addVms(2, 'POWERED_OFF')
  const { token } = api.eng
  const path = `/api/vApp/vm-${vms[0]}?unavailable=true`
  const off = await read(path, token)
  assert.deepEqual(because(off, 'power:powerOff'), ['nothing', 'it is POWERED_OFF'])
  assert.deepEqual(because(off, 'power:suspend'), [
    'state',
    'it is POWERED_OFF; this needs it POWERED_ON',
  ])
  assert.deepEqual(because(off, 'snapshot:removeAll'), ['nothing', 'it has no snapshot'])
  assert.deepEqual(because(off, 'disable'), [
    'nothing',
    'nested virtualisation is already disabled',
  ])
  assert.deepEqual(because(off, 'screen:acquireTicket'), [
    'state',
    'it is POWERED_OFF; this needs it POWERED_ON',
  ])
  const viewer = await read(path, await api.enter(api.eng.org, 'console only'))
  assert.deepEqual(because(viewer, 'power:powerOn'), [
    'right',
    'the role console only lacks the right vm:power',
  ])
  const whole = await read(`/api/vApp/vapp-${vapp}?unavailable=true`, token)
  const [code, reason = ''] = because(whole, 'power:suspend')
  assert.equal(code, 'state')
  assert.match(reason, /^VM \S+: it is POWERED_OFF; this needs it POWERED_ON$/)

  await sql`update vm set queue_target = 'POWERED_ON' where id = ${vms[0]}`.execute(api.cloud.db)
  const queued = await read(path, token)
  assert.deepEqual(because(queued, 'power:powerOn'), [
    'nothing',
    'after its queued tasks it is POWERED_ON',
  ])
  await sql`update vm set lost_reason = 'LOST' where id = ${vms[0]}`.execute(api.cloud.db)
  const lost = await read(path, token)
  assert.match(because(lost, 'power:powerOn')[1] ?? '', /^it was lost with its host/)
  assert.ok(rels(lost, 'Link').includes('remove'))
  await sql`update vm set closed = true where id = ${vms[0]}`.execute(api.cloud.db)
  const closed = await read(path, token)
  for (const rel of ['remove', 'edit', 'power:powerOn', 'screen:acquireTicket']) {
    assert.deepEqual(because(closed, rel), ['closed', 'it is being deleted'], rel)
  }
})

test('a vdc says why nothing can be created in it', async () => {
  const path = `/api/vdc/${api.eng.ids['vdc']}?unavailable=true`
  const author = await read(path, api.eng.token)
  assert.deepEqual(rels(author, 'Unavailable'), ['add'], 'networks, and nothing else')
  assert.deepEqual(because(author, 'add')[1], 'the role author lacks the right network:edit')
  const viewer = await read(path, await api.enter(api.eng.org, 'user'))
  assert.deepEqual(because(viewer, 'add'), ['right', 'the role user lacks the right vm:edit'])
  const types = find(viewer, 'Unavailable').map((each) => attribute(each, 'type'))
  assert.equal(new Set(types).size, 4, 'their types tell them apart')
  await sql`update vdc set disabled = true where id = ${api.eng.ids['vdc']}`.execute(api.cloud.db)
  assert.deepEqual(because(await read(path, api.eng.token), 'add'), ['state', 'it is disabled'])
  await sql`update vdc set disabled = false`.execute(api.cloud.db)
})

test('it is there only for those who ask, from 5.1 on, also as JSON', async () => {
  const { vms } = await api.cloud.addVms(1, 'POWERED_ON')
  const { token } = api.eng
  const path = `/api/vApp/vm-${vms[0]}`
  const none = [
    await read(path, token),
    await read(`${path}?unavailable=false`, token),
    await read(`${path}?unavailable=true`, token, 'application/*+xml;version=1.5'),
  ]
  for (const root of none) assert.deepEqual(rels(root, 'Unavailable'), [])
  const accept = 'application/*+json;version=5.1'
  const { text } = await api.ask('GET', `${path}?unavailable=true`, { token, headers: { accept } })
  const { unavailable } = JSON.parse(text) as { unavailable: { rel: string; code: string }[] }
  assert.deepEqual(
    unavailable.find(({ rel }) => rel === 'power:powerOn'),
    { rel: 'power:powerOn', code: 'nothing', because: 'it is POWERED_ON' },
  )
  assert.equal((await api.ask('GET', `${path}?unavailable=perhaps`, { token })).status, 400)
})
