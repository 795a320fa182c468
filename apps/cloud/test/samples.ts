// One request for each route, as a client would send it, with its response, for docs/reference/api/cloud.md. Values that differ from run to
// run (ids, times, secrets) are replaced by constants.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'

import type { UserId, VmId } from '@skerry/vm'
import { readXml } from '@skerry/xml'
import { sql } from 'kysely'

import { ours, type Dialect } from '../src/dialect/dialect.ts'
import type { Status } from '../src/domain/vm-status.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { JSON_SAMPLE, type RequestSample } from '../src/reference/api-reference.ts'
import { routes } from '../src/routes.ts'
import { edgeIdsFor } from './edge-rows.ts'
import { acceptOf, exampleAt, exampleOf, operationsOf, startOf } from './every-route.ts'
import { addFactorRow, codeNow } from './factor-row.ts'
import { makeOffered } from './make-offered.ts'
import { addNetworkRow, addSecurityGroupRow } from './network-rows.ts'
import { makeHostsReady } from './open-zone.ts'
import { addProviderRow } from './provider-row.ts'
import { addRoleRow } from './role-row.ts'
import {
  BASE,
  hrefOf,
  openTenantsApi,
  type Answered,
  type TenantsApi,
  type Spoken,
} from './tenants-api.ts'
import { addWebhookRow } from './webhook-row.ts'

interface How {
  readonly query?: string
  readonly body?: string
  readonly from?: Status
  readonly headers?: Readonly<Record<string, string>>
  /** The request is for a vApp. */
  readonly whole?: true
}

const basic = `Basic ${Buffer.from('alice@eng:secret').toString('base64')}`

/** With a code of the second factor. */
const withCode: How = {
  get headers() {
    return { [ours.secondFactorHeader]: codeNow() }
  },
}

/** How a sample differs from the plain request: the example of its document, for a VM in the first status that its operation allows. */
const hows: Readonly<Record<string, How>> = {
  createSession: { headers: { authorization: basic } },
  readLease: { whole: true },
  changeLease: { whole: true },
  recompose: { whole: true },
  readEntity: { from: 'POWERED_ON' },
  readUsage: { from: 'POWERED_ON', query: '?step=15&points=2' },
  readOrgUsage: { query: '?from=2026-01-01&to=2026-01-03' },
  exportOrgUsage: {
    query: '?from=2026-01-01&to=2026-01-03',
    headers: { accept: 'text/csv;version=5.1' },
  },
  acquireTicket: { from: 'POWERED_ON' },
  acquireMksTicket: { from: 'POWERED_ON' },
  takeScreenshot: { headers: { accept: 'image/*;version=5.1' } },
  deploy: { from: 'POWERED_OFF' },
  undeploy: { from: 'POWERED_ON' },
  changeProcessors: { from: 'POWERED_OFF' },
  changeMemory: { from: 'POWERED_OFF' },
  changeConnections: { from: 'POWERED_OFF' },
  rename: { from: 'POWERED_OFF' },
  readVappAccess: { whole: true },
  changeVappAccess: { whole: true },
  mergeMetadata: { from: 'POWERED_OFF' },
  writeMetadataValue: { from: 'POWERED_OFF' },
  runQuery: { query: '?type=vm&filter=status==POWERED_ON&fields=name,containerName' },
  powerOffMatching: { query: '?type=vm&filter=name==web-1;status==POWERED_ON&expect=1' },
  confirmSecondFactor: {
    get body() {
      return `<SecondFactorCode code="${codeNow()}"/>`
    },
  },
  deleteSecondFactor: withCode,
  replaceRecoveryCodes: withCode,
  followEvents: { query: '?after=0-0' },
  sendUpload: {
    headers: { 'content-range': 'bytes 0-15/65536' },
    body: 'the first bytes!',
  },
}

/** An action on the VMs of a query that finds none. */
const onNone: How = { query: '?type=vm&filter=name==old-*&expect=0' }

/** Response headers that are worth showing. */
const headersOf = ({ tokenHeader }: Dialect) => [
  'content-type',
  'location',
  tokenHeader,
  'set-cookie',
]

export async function recordSamples(dialect = ours): Promise<Map<string, RequestSample>> {
  await using api = await openTenantsApi()
  const at = api.spoken.find((each) => each.dialect === dialect) ?? assert.fail(dialect.name)
  const samples = new Map<string, RequestSample>()
  const entity = await furnish(api)
  // Changing requests come after all reading ones, so that the documents read do not depend on them.
  const order = routes.toSorted((a, b) => rank(a) - rank(b))
  for (const route of order) {
    samples.set(route.name, stable(await record(api, at, route, entity), dialect))
    if (route.name === 'instantiate') {
      samples.set(JSON_SAMPLE, stable(await record(api, at, route, entity, inJson(api)), dialect))
    }
    await sql`update org set disabled = false`.execute(api.cloud.db)
    await api.resume()
    await sql`update host set enabled = true`.execute(api.cloud.db)
  }
  return samples
}

/** A request and its response in JSON. */
const inJson = ({ eng: { ids } }: TenantsApi): How => ({
  headers: { accept: 'application/*+json;version=5.1', 'content-type': 'application/json' },
  body: JSON.stringify({
    name: 'shop-2',
    powerOn: true,
    source: { href: `${BASE}/api/vAppTemplate/${ids['template']}` },
  }),
})

const rank = ({ method, name }: CloudRoute): number =>
  method === 'GET' ? 0 : name === 'deleteSession' ? 2 : 1

/** A vApp `web` with a running VM, and metadata. */
async function furnish(api: TenantsApi): Promise<string> {
  const vm = await vmThatIs(api, 'POWERED_ON')
  await sql`update vapp set name = 'web' where id = (select vapp from vm where id = ${vm})`.execute(
    api.cloud.db,
  )
  await sql`update vm set name = 'web-1' where id = ${vm}`.execute(api.cloud.db)
  await sql`update console set vm = ${vm}, renewed_at = 'infinity' where id = ${api.eng.ids['console']}`.execute(
    api.cloud.db,
  )
  await sql`insert into cell (id, alive_until, version, conditions) values ('cell-1', clock_timestamp() + interval '1 hour', '0.1.0',
    '[{"name":"clock","ok":true,"since":"2026-11-15T12:00:00.000Z","message":"the clock of this cell is 0 s ahead of the database''s"},
      {"name":"database","ok":true,"since":"2026-11-15T12:00:00.000Z","message":"PostgreSQL answers"}]')`.execute(
    api.cloud.db,
  )
  return `vm-${vm}`
}

async function vmThatIs({ cloud }: TenantsApi, status: Status): Promise<VmId> {
  const [vm] = (await cloud.addVms(1, status)).vms as [VmId]
  await sql`update vm set boot = 'boot' where id = ${vm} and status = 'POWERED_ON'`.execute(
    cloud.db,
  )
  return vm
}

async function record(
  api: TenantsApi,
  at: Spoken,
  route: CloudRoute,
  running: string,
  how = hows[route.name] ?? (route.path.startsWith('/api/query/action/') ? onNone : {}),
): Promise<RequestSample> {
  const from = how.from ?? (route.name === 'delete' ? 'POWERED_OFF' : startOf(route))
  const ids: Record<string, string> = {
    ...api.eng.ids,
    version: '1.5',
    file: 'master.xsd',
    entity: running,
    ...(how.whole && { entity: api.eng.vapp }),
    urn: at.dialect.urn('vdc', api.eng.ids['vdc'] ?? ''),
  }
  if (route.method !== 'GET' && from !== undefined) {
    const vm = await vmThatIs(api, from)
    ids['entity'] = `vm-${vm}`
    await makeOffered(api.cloud.db, vm, operationsOf(route)[0])
  }
  if (route.path.includes('/metadata')) {
    await api.ask('PUT', `/api/vApp/${ids['entity']}/metadata/colour`, {
      token: api.eng.token,
      body: '<MetadataValue><Value>red</Value></MetadataValue>',
    })
  }
  await makeHostsReady(api.cloud.db, route)
  Object.assign(ids, await freshRows(api, route, ids))
  if (route.method !== 'GET') Object.assign(ids, await edgeIdsFor(api, route, `of ${route.name}`))
  const token = await tokenFor(api, route)
  if (route.path.includes(':upload')) ids['upload'] = await announced(api, route)
  if (route.path.includes(':accessToken')) ids['accessToken'] = await ownToken(api, token)
  if (route.path.includes(':userToken')) ids['userToken'] = await newToken(api, route)
  const path =
    route.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? assert.fail(`no :${name}`)) +
    (how.query ?? '')
  const headers = {
    ...(route.permission === 'anyone' ? {} : acceptOf(route)),
    ...(token === '' ? {} : { [at.dialect.tokenHeader]: token }),
    ...how.headers,
  }
  const body = how.body ?? exampleOf(route, exampleAt(ids, api.eng.vapp))
  const answer =
    route.name === 'followEvents'
      ? await firstEvent(at, path, headers)
      : await at.ask(route.method, path, { headers, ...(body !== undefined && { body }) })
  assert.ok(
    answer.status >= 200 && answer.status < 300,
    `${route.name} has no good sample (apps/cloud/test/samples.ts): ${answer.status} ${answer.text}`,
  )
  const kept = headersOf(at.dialect).flatMap((name) => {
    const value = answer.headers[name]
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  const { status } = answer
  const text = answer.headers['content-type'] === 'image/png' ? '(a picture)' : answer.text
  return {
    path,
    headers,
    ...(body !== undefined && { body }),
    answer: { status, headers: Object.fromEntries(kept), text },
  }
}

/** Rows for a route that changes or deletes one. */
async function freshRows(
  { cloud: { db }, eng: { org } }: TenantsApi,
  { path, method, name }: CloudRoute,
  { vdc = '', account = '' }: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  if (method === 'GET') return {}
  const isDeleted = method === 'DELETE'
  // Each code is taken once.
  await sql`update second_factor set used_step = 0`.execute(db)
  if (path.includes(':network')) {
    const network = { org, vdc, name: isDeleted ? 'old' : 'front' }
    return { network: await addNetworkRow(db, network) }
  }
  if (path.includes(':provider')) {
    return { provider: await addProviderRow(db, org, `of-${name.toLowerCase()}`) }
  }
  if (path.includes(':secondFactor')) {
    const owner = { org, account: account as UserId }
    return { secondFactor: await addFactorRow(db, owner, name, isDeleted) }
  }
  if (path.includes(':role')) {
    return { role: (await addRoleRow(db, org, `of-${name.toLowerCase()}`)).id }
  }
  if (path.includes(':webhook')) {
    return { webhook: await addWebhookRow(db, org, `of-${name.toLowerCase()}`) }
  }
  if (!path.includes(':securityGroup')) return {}
  return { securityGroup: await addSecurityGroupRow(db, org, isDeleted ? 'old' : 'api') }
}

/** A token of the lowest role that has the right. */
async function tokenFor(api: TenantsApi, { permission, name }: CloudRoute): Promise<string> {
  if (permission === 'anyone' || permission === 'login') return ''
  if (permission === 'org:admin' || permission === 'network:edit')
    return api.enter(api.eng.org, 'organisation administrator')
  if (['cloud:admin', 'cloud:read', 'host:admin', 'external:admin'].includes(permission)) {
    return api.enter(api.eng.org, 'system administrator')
  }
  return name === 'deleteSession' ? api.enter(api.eng.org, 'author') : api.eng.token
}

/** An announced upload: its size is known, and no bytes were received. */
async function announced({ ask, eng }: TenantsApi, { name }: CloudRoute): Promise<string> {
  const { text } = await ask('POST', `/api/catalog/${eng.ids['catalog']}/action/upload`, {
    token: eng.token,
    body: `<UploadParams name="image of ${name}" size="65536"/>`,
  })
  return hrefOf(readXml(text)).split('/').at(-1) ?? ''
}
async function newToken(
  { ask, eng: { token } }: TenantsApi,
  { name }: CloudRoute,
): Promise<string> {
  const body = `<AccessTokenParams name="${name === 'deleteUserToken' ? 'left behind' : 'backup'}"/>`
  const made = await ask('POST', '/api/session/tokens', { token, body })
  return hrefOf(readXml(made.text)).split('/').at(-1) ?? ''
}
async function ownToken(api: TenantsApi, token: string): Promise<string> {
  const list = readXml((await api.ask('GET', '/api/session/tokens', { token })).text)
  const found = list.children.find(
    (each) => typeof each !== 'string' && hrefOf(each) !== '' && each.name === 'AccessToken',
  )
  return (
    hrefOf(typeof found === 'string' ? undefined : found)
      .split('/')
      .at(-1) ?? ''
  )
}

/** The first event of a stream, which never ends. */
async function firstEvent(
  { port }: Spoken,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const sent = request({ port, host: '127.0.0.1', path, headers })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk)
    const whole = text.split('\n\n').slice(0, -1)
    const found = whole.find((each) => /^event: /m.test(each))
    if (found === undefined) continue
    text = found
    break
  }
  response.destroy()
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const secretsOf = ({ tokenHeader, cookie }: Dialect): readonly (readonly [RegExp, string])[] => [
  [/skat_[\w-]{43}/g, 'skat_TOKEN'],
  [/whsec_[\w+/]{43}=/g, 'whsec_SECRET'],
  [/(?<=<Secret>|secret=)[A-Z2-7]{32}/g, 'SECRET'],
  [/(?<=<Code>)[a-z2-7-]{19}/g, 'abcd-efgh-ijkl-mnop'],
  [/(?<=code=")\d{6}/g, '123456'],
  [/(?<=<Behind>)\d+/g, '0'],
  [/ticket=[\w-]{43}/g, 'ticket=TICKET'],
  [/(?<=<Ticket>)[\w-]{43}/g, 'TICKET'],
  [new RegExp(`(${tokenHeader}: |${cookie}=)[\\w-]{43}`, 'g'), '$1TOKEN'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-15T12:00:00.000Z'],
  [/(?<=")app-[0-9a-f]{8}(?=")/g, 'app'],
  [
    /\b(console-only|author|organisation-administrator|system-administrator|user)-[\w-]{6}(?=")/g,
    '$1',
  ],
  [/^id: [0-9a-f]{48}$/gm, 'id: d1120eb53c61eb35d81732690e001b050977919f26570d9c'],
  [/after=[\w%-]{8,}/g, 'after=CURSOR'],
]

/** Makes ids the same for every run, by numbering them in order of appearance. */
function stable(sample: RequestSample, dialect: Dialect): RequestSample {
  const known = new Map<string, string>()
  const id = (uuid: string): string => {
    if (!known.has(uuid)) {
      known.set(uuid, `01980000-0000-7000-8000-${String(known.size + 1).padStart(12, '0')}`)
    }
    return known.get(uuid) ?? uuid
  }
  const write = (text: string) =>
    secretsOf(dialect)
      .reduce((all, [secret, word]) => all.replaceAll(secret, word), text)
      .replaceAll(UUID, id)
  const all = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        name === dialect.tokenHeader
          ? 'TOKEN'
          : name === dialect.secondFactorHeader
            ? '123456'
            : write(value),
      ]),
    )
  const { path, headers, body, answer } = sample
  return {
    path: write(path),
    headers: all(headers),
    ...(body !== undefined && { body: write(body) }),
    answer: { ...answer, headers: all(answer.headers), text: write(answer.text) },
  }
}
