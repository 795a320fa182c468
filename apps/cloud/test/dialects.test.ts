// Goal: clients of the original API find the names and meanings that they expect, and nothing else differs between the dialects.
// Method: the sample of every route, recorded in both; then the behaviour that those clients rely on, one by one, over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, readXml, text as textOf, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { original, ours } from '../src/dialect/dialect.ts'
import type { RequestSample } from '../src/reference/api-reference.ts'
import { recordSamples } from './samples.ts'
import {
  BASE,
  find,
  hrefOf,
  logIn,
  openTenantsApi,
  ORIGINAL_BASE,
  type Answered,
  type TenantsApi,
  type Spoken,
} from './tenants-api.ts'

let api: TenantsApi
let old: Spoken
before(async () => {
  api = await openTenantsApi()
  ;[, old] = api.spoken
})
after(() => api[Symbol.asyncDispose]())

const ACCEPT = { '1.5': 'application/*+xml;version=1.5', '5.5': 'application/*+xml;version=5.5' }

/** Translates a response of our dialect into the original one, using only the table. */
function translated(name: string, { path, headers, body, answer }: RequestSample): RequestSample {
  const versions = name === 'listVersions'
  const say = (text: string): string =>
    text
      .replaceAll(
        /application\/vnd\.skerry\.cloud\.([A-Za-z.]+)\+(xml|json)/g,
        (_, document: string, format: string) =>
          original.media(document).replace('+xml', `+${format}`),
      )
      .replaceAll(ours.namespace('any'), original.namespace(versions ? 'versions' : 'any'))
      .replaceAll(/urn:skerry:([a-z]+):/g, (_, kind: string) => original.urn(kind, ''))
      .replaceAll(`${ours.cookie}=`, `${original.cookie}=`)
      .replaceAll(BASE, ORIGINAL_BASE)
      .replaceAll(encodeURIComponent(BASE), encodeURIComponent(ORIGINAL_BASE))
      // An app shows the host that the user logs in to.
      .replaceAll(/otpauth:[^<]*/g, (found) =>
        found.replaceAll(new URL(BASE).hostname, new URL(ORIGINAL_BASE).hostname),
      )
      .replaceAll(/(<Task [^>]* status=)"queued"/g, `$1"${original.words.task.queued}"`)
      .replaceAll('include schemaLocation="versions.xsd"', imported)
      // The wait of a task is an extension element; the original dialect has only its text.
      .replaceAll(/<Waiting [^>]*?message="([^"]*)"[^>]*\/>/g, '<Details>$1</Details>')
      .replaceAll(/"waiting":\{[^}]*"message":"([^"]*)"[^}]*\}/g, '"details":"$1"')
      .replaceAll('"status":"queued"', `"status":"${original.words.task.queued}"`)
      // Role and rights of a session are extensions too.
      .replaceAll(/<Session [^>]*>|(?<=<Session [^]*)<Right>[^<]*<\/Right>/g, (found) =>
        found.startsWith('<Right>') ? '' : found.replace(/ role="[^"]*"/, ''),
      )
      // Names of headers, in the OpenAPI document.
      .replaceAll(`"${ours.requestIdHeader}"`, `"${original.requestIdHeader}"`)
      .replaceAll(`"${ours.tokenHeader}"`, `"${original.tokenHeader}"`)
  const all = (each: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(each).map(([header, value]) => [
        header === ours.tokenHeader ? original.tokenHeader : header,
        say(value),
      ]),
    )
  return {
    path: say(path),
    headers: all(headers),
    ...(body !== undefined && { body }),
    answer: { ...answer, headers: all(answer.headers), text: say(answer.text) },
  }
}
const imported = `import namespace="${original.namespace('versions')}" schemaLocation="versions.xsd"`

test('every route responds the same in both dialects, except for the names in the table', async () => {
  const mine = await recordSamples(ours)
  const theirs = await recordSamples(original)
  assert.deepEqual([...theirs.keys()], [...mine.keys()])
  for (const [name, sample] of mine) {
    const { path, headers, body, answer } = theirs.get(name) ?? assert.fail(name)
    // Requests are not compared: their bodies contain our addresses, and are accepted.
    const said = { path, headers, ...(body !== undefined && { body }), answer }
    assert.deepEqual(settled(said), settled(translated(name, sample)), name)
  }
})

/** The VMs of a vApp come in the order of their ids, which are new in each run. */
const settled = ({ answer: { text, ...answer }, ...sample }: RequestSample) => ({
  ...sample,
  ...answer,
  lines: text
    .replaceAll(/01980000-0000-7000-8000-\d{12}/g, 'ID')
    .split(/(?=<)/)
    .toSorted(),
})

const readAs = ({ status, text, headers }: Answered, expected = 200): Element => {
  assert.equal(status, expected, text)
  assert.ok(headers[original.requestIdHeader], 'every response has its request id')
  return readXml(text)
}

test('versions and login are the same for all clients of the original API', async () => {
  const requested = await old.ask('GET', '/api/versions', {
    headers: { accept: 'application/*+xml' },
  })
  const versions = readAs(requested)
  assert.equal(attribute(versions, 'xmlns'), 'http://www.vmware.com/vcloud/versions')
  const logins = find(versions, 'VersionInfo', 'LoginUrl').map(({ children }) => children[0])
  assert.deepEqual(new Set(logins), new Set([`${ORIGINAL_BASE}/api/sessions`]))
  const refused = await old.ask('POST', '/api/sessions')
  assert.equal(refused.status, 401)
  assert.equal(refused.headers['www-authenticate'], 'Basic realm="vCloud"')
  const opened = await logIn(old.ask, 'alice@eng', 'secret', original)
  const session = readAs(opened)
  assert.equal(attribute(session, 'xmlns'), 'http://www.vmware.com/vcloud/v1.5')
  assert.match(opened.token, /^[\w-]{43}$/)
  assert.match(String(opened.headers['set-cookie']), new RegExp(`^vcloud-token=${opened.token};`))
  assert.equal(opened.headers['x-vcloud-authorization'], opened.token)
  const links = find(session, 'Link').map((each) => [
    attribute(each, 'rel'),
    attribute(each, 'type'),
  ])
  const vcloud = (document: string) => `application/vnd.vmware.vcloud.${document}+xml`
  for (const [rel, document] of [
    ['down', 'orgList'],
    ['down', 'org'],
    ['down', 'query.queryList'],
    ['entityResolver', 'entity'],
  ] as const) {
    assert.ok(
      links.some(([r, t]) => r === rel && t === vcloud(document)),
      `${rel} ${document}`,
    )
  }
  assert.ok(links.some(([rel, type]) => rel === 'remove' && type === undefined))
  const admin = await api.enter(api.eng.org, 'system administrator')
  const cloud = readAs(await old.ask('GET', '/api/admin', { token: admin }))
  assert.equal(attribute(cloud, 'type'), 'application/vnd.vmware.admin.vcloud+xml')
})

test('an unknown id is forbidden, an unknown path is not found', async () => {
  const { token } = api.eng
  const reported = async (path: string, status: number) => {
    const error = readAs(await old.ask('GET', path, { token }), status)
    assert.equal(attribute(error, 'majorErrorCode'), String(status))
    return attribute(error, 'minorErrorCode')
  }
  const unknown = '/api/vApp/vm-01980000-0000-7000-8000-00000000abcd'
  assert.equal(await reported(unknown, 403), 'ACCESS_TO_RESOURCE_IS_FORBIDDEN')
  assert.equal(await reported('/api/vApp/vm-1', 403), 'ACCESS_TO_RESOURCE_IS_FORBIDDEN')
  assert.equal(await reported('/api/nothing', 404), 'RESOURCE_NOT_FOUND')
  const none = await old.ask('GET', unknown, { token, headers: { accept: '*/*' } })
  assert.equal(attribute(readAs(none, 406), 'minorErrorCode'), 'NOT_ACCEPTABLE')
})

async function vmThatIs(status: 'POWERED_ON' | 'POWERED_OFF'): Promise<string> {
  const [vm] = (await api.cloud.addVms(1, status)).vms as [VmId]
  await sql`update vm set boot = 'boot' where id = ${vm} and status = 'POWERED_ON'`.execute(
    api.cloud.db,
  )
  return `/api/vApp/vm-${vm}`
}

test('a wrong state and a duplicate name are bad requests', async () => {
  const { token, vapp } = api.eng
  const off = await vmThatIs('POWERED_OFF')
  for (const [method, path, body] of [
    ['POST', `${off}/power/action/reset`, undefined],
    ['POST', `${off}/screen/action/acquireTicket`, undefined],
    ['DELETE', await vmThatIs('POWERED_ON'), undefined],
    [
      'POST',
      `/api/vdc/${api.eng.ids['vdc']}/action/composeVApp`,
      '<ComposeVAppParams name="first"/>',
    ],
  ] as const) {
    const requested = { token, ...(body !== undefined && { body }) }
    const error = readAs(await old.ask(method, path, requested), 400)
    assert.equal(attribute(error, 'minorErrorCode'), 'BAD_REQUEST', `${method} ${path} ${vapp}`)
    assert.equal((await api.ask(method, path, requested)).status, 409)
  }
})

test('a queued task is shown as running in its document, in queries and in lists', async () => {
  const { token } = api.eng
  const off = await vmThatIs('POWERED_OFF')
  const started = readAs(await old.ask('POST', `${off}/power/action/powerOn`, { token }), 202)
  const path = hrefOf(started).replace(ORIGINAL_BASE, '')
  const mine = await api.ask('GET', path, { token })
  assert.equal(attribute(readXml(mine.text), 'status'), 'queued')
  assert.equal(attribute(started, 'status'), 'running')
  assert.equal(attribute(readAs(await old.ask('GET', path, { token })), 'status'), 'running')
  const list = readAs(await old.ask('GET', `/api/tasksList/${api.eng.org}`, { token }))
  const listed = find(list, 'Task').find((each) => hrefOf(each) === hrefOf(started))
  assert.equal(attribute(listed, 'status'), 'running')
  const ask = async (at: Spoken, filter: string) => {
    const found = await at.ask('GET', `/api/query?type=task&filter=${filter}`, { token })
    return find(readXml(found.text), 'TaskRecord').map((each) => attribute(each, 'status'))
  }
  assert.deepEqual(await ask(old, 'status==queued'), [])
  const running = await ask(old, 'status==running')
  assert.deepEqual(new Set(running), new Set(['running']))
  const waiting = await ask(api.spoken[0], 'status==queued')
  assert.ok(waiting.length > 0)
  const both = await ask(api.spoken[0], 'status==queued,status==running')
  assert.equal(running.length, both.length)
  assert.deepEqual(await ask(old, 'status!=running'), [])
})

test('a ticket is returned whole since 1.5, and in parts since 5.5', async () => {
  const { token } = api.eng
  const on = await vmThatIs('POWERED_ON')
  const at = (version: keyof typeof ACCEPT) => ({ token, headers: { accept: ACCEPT[version] } })
  const whole = readAs(await old.ask('POST', `${on}/screen/action/acquireTicket`, at('1.5')))
  assert.match(textOf(whole) ?? '', /^mks:\/\/console\.example\/vm-[0-9a-f-]{36}\?ticket=/)
  const linked = async (version: keyof typeof ACCEPT) =>
    find(readAs(await old.ask('GET', on, at(version))), 'Link').find(
      (each) => attribute(each, 'rel') === 'screen:acquireMksTicket',
    )
  assert.equal(await linked('1.5'), undefined)
  assert.equal(hrefOf(await linked('5.5')), `${ORIGINAL_BASE}${on}/screen/action/acquireMksTicket`)
  const path = `${on}/screen/action/acquireMksTicket`
  assert.equal((await old.ask('POST', path, at('1.5'))).status, 406)
  const parts = await old.ask('POST', path, at('5.5'))
  const ticket = readAs(parts)
  assert.equal(
    parts.headers['content-type'],
    'application/vnd.vmware.vcloud.mksTicket+xml;version=5.5',
  )
  const reported = Object.fromEntries(
    ticket.children.flatMap((each) =>
      typeof each === 'string' ? [] : [[each.name, textOf(each)]],
    ),
  )
  assert.deepEqual([reported['Host'], reported['Port']], ['console.example', '443'])
  assert.equal(reported['Vmx'], on.split('/').at(-1))
  assert.equal(
    attribute(ticket, 'wss'),
    `wss://console.example/screen/${reported['Vmx']}?ticket=${reported['Ticket']}`,
  )
  assert.equal(api.screens.armed.at(-1)?.vm, reported['Vmx']?.slice(3))
})

test('a session is valid in both dialects; links point to the listener that was used', async () => {
  const { token } = api.eng
  for (const { ask, base } of api.spoken) {
    const session = readXml((await ask('GET', '/api/session', { token })).text)
    for (const each of find(session, 'Link')) assert.ok(hrefOf(each).startsWith(`${base}/api/`))
  }
})

test('clients find a link by its type: snapshots and hardware have one, power has none', async () => {
  const { token } = api.eng
  const off = readAs(await old.ask('GET', await vmThatIs('POWERED_OFF'), { token }))
  const types = new Map(
    find(off, 'Link').map((each) => [attribute(each, 'rel'), attribute(each, 'type')]),
  )
  assert.equal(
    types.get('snapshot:create'),
    'application/vnd.vmware.vcloud.createSnapshotParams+xml',
  )
  assert.equal(types.get('reconfigureVm'), 'application/vnd.vmware.vcloud.vm+xml')
  assert.ok(types.has('power:powerOn'))
  assert.equal(types.get('power:powerOn'), undefined)
})

test('a template contains its VM, and an organisation links its lists as queries, for clients that need them', async () => {
  const { token, ids } = api.eng
  const path = `/api/vAppTemplate/${ids['template']}`
  const [inside] = find(readAs(await old.ask('GET', path, { token })), 'Children', 'Vm')
  for (const name of ['name', 'id', 'type', 'href']) assert.ok(attribute(inside, name), name)
  const vm = readAs(await old.ask('GET', hrefOf(inside).replace(ORIGINAL_BASE, ''), { token }))
  assert.equal(attribute(vm, 'type'), original.media('vm'))
  assert.equal(find(vm, 'VirtualHardwareSection', 'Item').length, 3)
  const made = await old.ask('POST', `/api/vdc/${ids['vdc']}/action/composeVApp`, {
    token,
    body: `<ComposeVAppParams xmlns="${original.namespace('params')}" name="by its VM"><SourcedItem><Source href="${hrefOf(inside)}" name="one"/></SourcedItem></ComposeVAppParams>`,
  })
  assert.equal(made.status, 201, made.text)
  const org = readAs(await old.ask('GET', `/api/org/${api.eng.org}`, { token }))
  const lists = find(org, 'Link').filter(
    (each) => attribute(each, 'type') === original.media('query.records'),
  )
  const found = await Promise.all(
    lists.map(async (each) => {
      const said = await old.ask('GET', hrefOf(each).replace(ORIGINAL_BASE, ''), { token })
      return find(
        readAs(said),
        `${attribute(each, 'name') === 'catalog' ? 'Catalog' : 'OrgVdc'}Record`,
      )
    }),
  )
  assert.deepEqual(
    found.map((records) => records.length > 0 && hrefOf(records[0]) !== ''),
    [true, true],
  )
})

test('a token that is sent twice counts once; two different tokens count as none', async () => {
  const { token } = api.eng
  for (const { ask, dialect } of api.spoken) {
    const sent = async (value: string) =>
      (await ask('GET', '/api/session', { headers: { [dialect.tokenHeader]: value } })).status
    assert.equal(await sent(`${token}, ${token}`), 200)
    assert.equal(await sent(`${token}, another`), 401)
    assert.equal(await sent(''), 401)
  }
})
