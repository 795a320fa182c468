// One request for each row of the route table, as a client would send it, with its answer: what is in docs/api/cloud.md. What
// differs from run to run (ids, times, secrets) is written as something that does not.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'

import type { VmId } from '@skerry/vm'
import { readXml } from '@skerry/xml'
import { sql } from 'kysely'

import type { Sample } from '../src/api-reference.ts'
import { ours, type Dialect } from '../src/http/dialect.ts'
import { operations } from '../src/operations.ts'
import type { CloudRoute } from '../src/route.ts'
import { routes } from '../src/routes.ts'
import type { Status } from '../src/vm-status.ts'
import { acceptOf } from './every-route.ts'
import { itemOf } from './rights-table.ts'
import { BASE, hrefOf, openDoor, type Answered, type Door, type Spoken } from './tenants-door.ts'

interface How {
  readonly query?: string
  readonly body?: (ids: Readonly<Record<string, string>>) => string
  readonly from?: Status
  readonly headers?: Readonly<Record<string, string>>
  /** It is asked of a vApp. */
  readonly whole?: true
}

const source = ({ template = '' }: Readonly<Record<string, string>>, name = '') =>
  `<Source href="${BASE}/api/vAppTemplate/${template}"${name === '' ? '' : ` name="${name}"`}/>`

const basic = `Basic ${Buffer.from('alice@eng:secret').toString('base64')}`

/** If you are here because a row has no sample: say how it is asked rightly. A GET, and an action without a body, need no line. */
const hows: Readonly<Record<string, How>> = {
  createSession: { headers: { authorization: basic } },
  addAccessToken: { body: () => '<AccessTokenParams name="nightly"/>' },
  instantiate: {
    body: (ids) =>
      `<InstantiateVAppTemplateParams name="shop" powerOn="true">${source(ids)}</InstantiateVAppTemplateParams>`,
  },
  compose: {
    body: (ids) =>
      `<ComposeVAppParams name="site"><SourcedItem>${source(ids, 'web')}</SourcedItem><SourcedItem>${source(ids, 'db')}</SourcedItem></ComposeVAppParams>`,
  },
  clone: {
    body: ({ vapp }) =>
      `<CloneVAppParams name="copy"><Source href="${BASE}/api/vApp/${vapp}"/></CloneVAppParams>`,
  },
  readLease: { whole: true },
  changeLease: {
    whole: true,
    body: () =>
      '<LeaseSettingsSection><DeploymentLeaseInSeconds>86400</DeploymentLeaseInSeconds></LeaseSettingsSection>',
  },
  recompose: {
    whole: true,
    body: (ids) =>
      `<RecomposeVAppParams><SourcedItem>${source(ids, 'cache')}</SourcedItem></RecomposeVAppParams>`,
  },
  readEntity: { from: 'POWERED_ON' },
  acquireTicket: { from: 'POWERED_ON' },
  acquireMksTicket: { from: 'POWERED_ON' },
  takeScreenshot: { headers: { accept: 'image/*;version=5.1' } },
  createSnapshot: {
    from: 'POWERED_ON',
    body: () => '<CreateSnapshotParams name="before-upgrade" memory="true"/>',
  },
  revertToCurrentSnapshot: { from: 'POWERED_OFF' },
  deploy: { from: 'POWERED_OFF', body: () => '<DeployVAppParams powerOn="true"/>' },
  undeploy: {
    from: 'POWERED_ON',
    body: () =>
      '<UndeployVAppParams><UndeployPowerAction>shutdown</UndeployPowerAction></UndeployVAppParams>',
  },
  reconfigureVm: {
    from: 'POWERED_OFF',
    body: () =>
      '<Vm><VirtualHardwareSection><Item><ResourceType>4</ResourceType><VirtualQuantity>2048</VirtualQuantity></Item></VirtualHardwareSection></Vm>',
  },
  changeProcessors: { from: 'POWERED_OFF', body: () => itemOf(3, 2) },
  changeMemory: { from: 'POWERED_OFF', body: () => itemOf(4, 2048) },
  rename: { from: 'POWERED_OFF', body: () => '<Vm name="web-2"/>' },
  mergeMetadata: {
    from: 'POWERED_OFF',
    body: () =>
      '<Metadata><MetadataEntry><Key>owner</Key><Value>alice</Value></MetadataEntry></Metadata>',
  },
  writeMetadataValue: {
    from: 'POWERED_OFF',
    body: () => '<MetadataValue><Value>red</Value></MetadataValue>',
  },
  runQuery: { query: '?type=vm&filter=status==POWERED_ON&fields=name,containerName' },
  followEvents: { query: '?after=0-0' },
  addOrg: { body: () => '<AdminOrg name="red"/>' },
  changeOrg: { body: () => '<AdminOrg><Quota vms="10" memoryMB="16384"/></AdminOrg>' },
  upload: { body: () => '<UploadParams name="bookworm" size="1073741824" memoryMB="1024"/>' },
  sendUpload: {
    headers: { 'content-range': 'bytes 0-15/65536' },
    body: () => 'the first bytes!',
  },
  addVdc: { body: () => '<AdminVdc name="second"/>' },
  changeVdc: { body: () => '<AdminVdc><IsEnabled>false</IsEnabled></AdminVdc>' },
  addUser: {
    body: () => '<User name="rita"><Role name="author"/><Password>long enough</Password></User>',
  },
  changeUser: { body: () => '<User><Role name="user"/></User>' },
}

/** What is answered beside the document and worth a word. */
const headersOf = ({ tokenHeader }: Dialect) => [
  ...['content-type', 'location', tokenHeader, 'set-cookie'],
]

export async function recordSamples(dialect = ours): Promise<Map<string, Sample>> {
  await using door = await openDoor()
  const at = door.spoken.find((each) => each.dialect === dialect) ?? assert.fail(dialect.name)
  const samples = new Map<string, Sample>()
  const entity = await furnish(door)
  // Whatever changes something comes after all that is only read, so that what is read does not depend on it.
  const order = routes.toSorted((a, b) => rank(a) - rank(b))
  for (const route of order) {
    samples.set(route.name, stable(await record(door, at, route, entity), dialect))
    await sql`update org set disabled = false`.execute(door.cloud.db)
    await sql`update host set enabled = true`.execute(door.cloud.db)
  }
  return samples
}

const rank = ({ method, name }: CloudRoute): number =>
  method === 'GET' ? 0 : name === 'deleteSession' ? 2 : 1

/** A vApp `web` with a VM that runs, and something written down about it. */
async function furnish(door: Door): Promise<string> {
  const vm = await vmThatIs(door, 'POWERED_ON')
  await sql`update vapp set name = 'web' where id = (select vapp from vm where id = ${vm})`.execute(
    door.cloud.db,
  )
  await sql`update vm set name = 'web-1' where id = ${vm}`.execute(door.cloud.db)
  return `vm-${vm}`
}

async function vmThatIs({ cloud }: Door, status: Status): Promise<VmId> {
  const [vm] = (await cloud.addVms(1, status)).vms as [VmId]
  await sql`update vm set boot = 'boot' where id = ${vm} and status = 'POWERED_ON'`.execute(
    cloud.db,
  )
  return vm
}

async function record(door: Door, at: Spoken, route: CloudRoute, running: string): Promise<Sample> {
  const how = hows[route.name] ?? {}
  const from = how.from ?? operations.find(({ name }) => name === route.name)?.from[0]
  const ids: Record<string, string> = {
    ...{
      ...door.eng.ids,
      version: '1.5',
      file: 'master.xsd',
      entity: running,
      vapp: door.eng.vapp,
    },
    ...(how.whole && { entity: door.eng.vapp }),
    urn: at.dialect.urn('vdc', door.eng.ids['vdc'] ?? ''),
  }
  if (route.method !== 'GET' && from !== undefined) {
    const vm = await vmThatIs(door, from)
    ids['entity'] = `vm-${vm}`
    await sql`update vm set snapshot = 's', snapshot_at = clock_timestamp() where id = ${vm}
      and ${/^(revert|removeAll)/.test(route.name)}`.execute(door.cloud.db)
  }
  if (route.path.includes('/metadata')) {
    await door.ask('PUT', `/api/vApp/${ids['entity']}/metadata/colour`, {
      token: door.eng.token,
      body: '<MetadataValue><Value>red</Value></MetadataValue>',
    })
  }
  const token = await tokenFor(door, route)
  if (route.path.includes(':upload')) ids['upload'] = await announced(door, route)
  if (route.path.includes(':accessToken')) ids['accessToken'] = await ownToken(door, token)
  const path =
    route.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? assert.fail(`no :${name}`)) +
    (how.query ?? '')
  const headers = {
    ...(route.permission === 'anyone' ? {} : acceptOf(route)),
    ...(token === '' ? {} : { [at.dialect.tokenHeader]: token }),
    ...how.headers,
  }
  const body = how.body?.(ids)
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
    ...{ path, headers, ...(body !== undefined && { body }) },
    answer: { status, headers: Object.fromEntries(kept), text },
  }
}

/** Of whoever may least and still may this. */
async function tokenFor(door: Door, { permission, name }: CloudRoute): Promise<string> {
  if (permission === 'anyone' || permission === 'login') return ''
  if (permission === 'org:admin') return door.enter(door.eng.org, 'organisation administrator')
  if (['cloud:admin', 'cloud:read', 'host:admin'].includes(permission)) {
    return door.enter(door.eng.org, 'system administrator')
  }
  return name === 'deleteSession' ? door.enter(door.eng.org, 'author') : door.eng.token
}

/** An image that is on its way: its size is known, and nothing of it has come. */
async function announced({ ask, eng }: Door, { name }: CloudRoute): Promise<string> {
  const { text } = await ask('POST', `/api/catalog/${eng.ids['catalog']}/action/upload`, {
    token: eng.token,
    body: `<UploadParams name="image of ${name}" size="65536"/>`,
  })
  return hrefOf(readXml(text)).split('/').at(-1) ?? ''
}
async function ownToken(door: Door, token: string): Promise<string> {
  const list = readXml((await door.ask('GET', '/api/session/tokens', { token })).text)
  const found = list.children.find(
    (each) => typeof each !== 'string' && hrefOf(each) !== '' && each.name === 'AccessToken',
  )
  return (
    hrefOf(typeof found === 'string' ? undefined : found)
      .split('/')
      .at(-1) ?? ''
  )
}

/** A stream goes on for ever: its first event. */
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
  [/ticket=[\w-]{43}/g, 'ticket=TICKET'],
  [/(?<=<Ticket>)[\w-]{43}/g, 'TICKET'],
  [new RegExp(`(${tokenHeader}: |${cookie}=)[\\w-]{43}`, 'g'), '$1TOKEN'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-15T12:00:00.000Z'],
  [/(?<=")app-[0-9a-f]{8}(?=")/g, 'app'],
  [
    /\b(console-only|author|organisation-administrator|system-administrator|user)-[\w-]{6}(?=")/g,
    '$1',
  ],
  [/^id: \d+-\d+$/gm, 'id: 1042-7'],
  [/after=[\w%-]{8,}/g, 'after=CURSOR'],
]

/** The same for every run: ids are counted as they come. */
function stable(sample: Sample, dialect: Dialect): Sample {
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
        name === dialect.tokenHeader ? 'TOKEN' : write(value),
      ]),
    )
  const { path, headers, body, answer } = sample
  return {
    ...{
      path: write(path),
      headers: all(headers),
      ...(body !== undefined && { body: write(body) }),
    },
    answer: { ...answer, headers: all(answer.headers), text: write(answer.text) },
  }
}
