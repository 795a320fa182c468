// The tenant API of a cloud with two organisations, over HTTP. There is no Temporal: operations stay queued.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { PageFiles } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import { attribute, childrenByLocalName, readXml, type Element } from '@skerry/xml'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { makeCheck } from '../src/auth/credentials.ts'
import type { PasskeyContext } from '../src/auth/passkeys.ts'
import { makeSessions, type Sessions } from '../src/auth/sessions.ts'
import { original, ours, type Dialect } from '../src/dialect/dialect.ts'
import { Feeds } from '../src/feeds/feeds.ts'
import { byToken } from '../src/http/admission.ts'
import { buildServer, type ServerOptions } from '../src/http/server.ts'
import { openUploads } from '../src/images/uploads.ts'
import type { ForWorkflows } from '../src/machine-api/context.ts'
import { byGrant } from '../src/machine-api/runs.ts'
import { routes } from '../src/routes.ts'
import { requireProof } from '../src/second-factors/prove.ts'
import { addToCatalog } from '../src/tenants/catalogs.ts'
import type { WebUi } from '../src/web-ui/serve-pages.ts'
import type { WorkflowServers } from '../src/web-ui/workflow-servers.ts'
import { isAction } from './acts.ts'
import { screensOf, usageAt, type Screens } from './answering-hosts.ts'
import { asking, type Answered, type Ask } from './asking.ts'
import {
  DIGEST,
  eventCursors,
  openCloudDatabase,
  openSealed,
  seal,
  startDatabases,
  type CloudDatabase,
} from './cloud-database.ts'
import { addConsole } from './console-row.ts'
import { addEdge } from './edge-rows.ts'
import { addFactorRow } from './factor-row.ts'
import { lightHash } from './light-hash.ts'
import { addNetworkRow, addSecurityGroupRow } from './network-rows.ts'
import { makeLogins, pagesOf, secret, type Logins } from './pages-of.ts'
import { addProviderRow } from './provider-row.ts'
import { addRoleRow } from './role-row.ts'
import { addWebhookRow } from './webhook-row.ts'

export { XML, type Answered, type Ask, type Asked } from './asking.ts'

/** The public address: the base of every link, although the test listens elsewhere. */
export const BASE = 'https://cloud.example'
export const ORIGINAL_BASE = 'https://original.example'

/** An organisation with a user, and the ids of all resources that a path may name. */
export interface Tenant {
  readonly org: OrgId
  readonly token: string
  readonly ids: Readonly<Record<string, string>>
  readonly vapp: string
}

/** A listener and its dialect. */
export interface Spoken {
  readonly dialect: Dialect
  readonly base: string
  readonly port: number
  readonly ask: Ask
}

export interface TenantsApi extends AsyncDisposable {
  readonly cloud: CloudDatabase
  readonly port: number
  readonly ask: Ask
  /** One for each dialect, the first of which is ours: that of `port` and `ask`. */
  readonly spoken: readonly [Spoken, Spoken]
  readonly eng: Tenant
  readonly ops: Tenant
  /** The screen calls that hosts received, and whether the hosts respond. */
  readonly screens: Screens
  /** The clock of the cell, which may run ahead. */
  readonly time: { aheadMs: number }
  /** Directory of the images. */
  readonly images: string
  /** The same, as the machine API offers it to workflow servers. */
  readonly forWorkflows: ForWorkflows
  /** A token of a new user of this role: without the cost of a login. */
  enter(org: OrgId, role: string): Promise<string>
  /** Makes the session of `eng` valid again after something ended it. */
  resume(): Promise<void>
}

/** `files`: the web UI. `workflows`: servers that the cell passes requests of the web UI on to. */
export async function openTenantsApi(
  files?: PageFiles,
  workflows?: WorkflowServers,
): Promise<TenantsApi> {
  const postgres = await startDatabases()
  const cloud = await openCloudDatabase(postgres)
  const password = await lightHash('secret')
  const time = { aheadMs: 0 }
  const clock = { now: () => new Date(Date.now() + time.aheadMs) }
  const now = () => performance.now()
  const check = makeCheck(cloud.db, password, { now, open: openSealed, clock })
  const sessions = makeSessions(cloud.db, secret, check)
  const screens: Screens = { armed: [], away: false }
  const images = await mkdtemp(join(tmpdir(), 'skerry-images-'))
  const mistakes: unknown[] = []
  const log = (message: string, cause?: unknown) => mistakes.push([message, cause])
  const feeds = new Feeds({ db: cloud.db, now, log })
  const prove: PasskeyContext['requireProof'] = (principal, code) =>
    requireProof({ db: cloud.db, open: openSealed, clock }, principal, code)
  const given = { db: cloud.db, sessions, base: BASE, requireProof: prove }
  const { openIdServers, ...logins } = makeLogins(given)
  const context = contextOf({ cloud, screens, clock, images, feeds, openIdServers, prove })
  const options = { requestId: randomUUID, log }
  const servers: FastifyInstance[] = []
  const listening = { context, options, sessions, files, servers, workflows, logins }
  const runs = buildServer(context, routes, byGrant(cloud.db), { ...options, dialect: ours })
  await runs.ready()
  const spoken = [
    await speak(listening, ours, BASE),
    await speak(listening, original, ORIGINAL_BASE),
  ] as const
  const [{ port, ask }] = spoken
  const eng = await addTenant(cloud, ask, 'eng', password)
  return {
    cloud,
    port,
    ask,
    spoken,
    screens,
    images,
    time,
    eng,
    ops: await addTenant(cloud, ask, 'ops', password),
    forWorkflows: { check, sessions, api: (...call) => runs.routing(...call) },
    enter: (org, role) => enter(cloud, org, role),
    resume: () => resume(cloud, eng),
    async [Symbol.asyncDispose]() {
      await feeds[Symbol.asyncDispose]()
      for (const server of servers) await server.close()
      await runs.close()
      await cloud[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
      await rm(images, { recursive: true, force: true })
      assert.deepEqual(mistakes, [], 'no request caused an internal error')
    },
  }
}

interface ContextParts extends Pick<TenantsApi, 'cloud' | 'screens' | 'images'> {
  readonly clock: Context['clock']
  readonly feeds: Feeds
  readonly openIdServers: Context['openIdServers']
  readonly prove: PasskeyContext['requireProof']
}

type Context = Parameters<typeof buildServer>[0]

function contextOf(parts: ContextParts): Context {
  const { cloud, screens, clock, images, feeds, openIdServers, prove } = parts
  return {
    as: (principal: CloudDatabase['principal'], work: Parameters<CloudDatabase['as']>[1]) =>
      principal.role === 'system administrator'
        ? cloud.db.transaction().execute(work)
        : cloud.as(principal, work),
    reads: (reach: OrgId | 'all') => cloud.reads.of(reach),
    screens: screensOf(screens),
    usage: usageAt(screens),
    wake: () => undefined,
    clock,
    requireProof: prove,
    secret,
    seal,
    feeds,
    eventCursors,
    openIdServers,
    uploads: openUploads(cloud.db, images),
    postMessage: async () => ({ is: 'answered', status: 204 }),
    base: new URL(BASE),
    console: 'console.example',
  } as Context
}

interface Listening extends Pick<WebUi, 'files' | 'sessions'> {
  readonly context: Context
  readonly options: Omit<ServerOptions, 'dialect'>
  readonly sessions: Sessions
  readonly workflows: WorkflowServers | undefined
  readonly logins: Logins
  /** The caller closes them. */
  readonly servers: FastifyInstance[]
}

async function speak(
  { context, options, sessions, files, servers, workflows, logins }: Listening,
  dialect: Dialect,
  address: string,
): Promise<Spoken> {
  const base = new URL(address)
  const page = { files, sessions, dialect, base, console: context.console }
  const ui = pagesOf(page, workflows, logins)
  const server = buildServer({ ...context, base }, routes, byToken(sessions, dialect, base), {
    ...options,
    dialect,
    // As in a cell: only the listener that accepts the cookie of pages serves them.
    pages: dialect.pageCookie === undefined ? undefined : ui,
  })
  servers.push(server)
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  return { dialect, base: address, port, ask: asking({ port, dialect }) }
}

async function resume({ db }: CloudDatabase, { token, org, ids }: Tenant): Promise<void> {
  await sql`insert into session (token_hash, org, account)
    values (${hashToken(token)}, ${org}, ${ids['account']}) on conflict do nothing`.execute(db)
}

const idOf = (node: Element | undefined): string => hrefOf(node).split('/').at(-1) ?? ''

async function addTenant(
  { db, host }: CloudDatabase,
  ask: Ask,
  name: string,
  password: string,
): Promise<Tenant> {
  const known = await db.selectFrom('org').select('id').where('name', '=', name).executeTakeFirst()
  const { id: org } =
    known ?? (await db.insertInto('org').values({ name }).returning('id').executeTakeFirstOrThrow())
  await db.insertInto('account').values({ org, name: 'alice', role: 'author', password }).execute()
  const vdc = await db
    .insertInto('vdc')
    .values({ org, name: 'centre' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const template = await db
    .insertInto('template')
    .values({ org, name: 'debian', image: DIGEST, cpus: 1, memory_mib: 64, disk_mib: 64 })
    .returning('id')
    .executeTakeFirstOrThrow()
  await addToCatalog(db, { org, name: 'debian', template: template.id })
  const item = await db
    .selectFrom('catalog_item')
    .selectAll()
    .where('org', '=', org)
    .executeTakeFirstOrThrow()
  const account = await db
    .selectFrom('account')
    .select('id')
    .where('org', '=', org)
    .executeTakeFirstOrThrow()
  const { token } = await logIn(ask, `alice@${name}`)
  const made = await ask('POST', `/api/vdc/${vdc.id}/action/instantiateVAppTemplate`, {
    token,
    body: instantiate('first', template.id, false),
  })
  assert.equal(made.status, 201, made.text)
  const vapp = readXml(made.text)
  const [[task], [vm]] = [find(vapp, 'Tasks', 'Task'), find(vapp, 'Children', 'Vm')]
  const script = await ask('POST', '/api/session/tokens', {
    token,
    body: '<AccessTokenParams name="script"/>',
  })
  const upload = await announceUpload(ask, item.catalog, token)
  const ids = {
    org,
    vdc: vdc.id,
    network: await addNetworkRow(db, { org, vdc: vdc.id, name: 'lab' }),
    ...(await addEdge(db, { org, vdc: vdc.id, name, host })),
    securityGroup: await addSecurityGroupRow(db, org, 'lab'),
    provider: await addProviderRow(db, org, 'lab'),
    role: (await addRoleRow(db, org, 'lab')).id,
    webhook: await addWebhookRow(db, org, 'lab'),
    template: `vappTemplate-${template.id}`,
    entity: idOf(vm),
    task: idOf(task),
    accessToken: idOf(readXml(script.text)),
    secondFactor: await addFactorRow(db, { org, account: account.id }, 'tablet'),
    userToken: idOf(readXml(script.text)),
    upload,
    catalog: item.catalog,
    catalogItem: item.id,
    account: account.id,
    host,
    console: await addConsole(db, idOf(vm).replace('vm-', ''), account.id),
    urn: `urn:skerry:vdc:${vdc.id}`,
    key: 'colour',
  }
  return { org, token, ids, vapp: idOf(vapp) }
}

async function announceUpload(ask: Ask, catalog: string, token: string): Promise<string> {
  const body = '<UploadParams name="on its way" size="1"/>'
  const made = await ask('POST', `/api/catalog/${catalog}/action/upload`, { token, body })
  return idOf(readXml(made.text))
}

async function enter({ db }: CloudDatabase, org: OrgId, role: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const name = `${role.replaceAll(' ', '-')}-${token.slice(0, 6)}`
  const account = await db
    .insertInto('account')
    .values({ org, name, role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const session = { token_hash: hashToken(token), org, account: account.id }
  await db.insertInto('session').values(session).execute()
  return token
}

/** Logs in; the token is returned in a header. */
export async function logIn(
  ask: Ask,
  name: string,
  password = 'secret',
  { tokenHeader }: Pick<Dialect, 'tokenHeader'> = ours,
): Promise<Answered & { readonly token: string }> {
  const coded = Buffer.from(`${name}:${password}`).toString('base64')
  const answer = await ask('POST', '/api/sessions', {
    headers: { authorization: `Basic ${coded}` },
  })
  return { ...answer, token: String(answer.headers[tokenHeader]) }
}

export const instantiate = (name: string, template: string, powerOn: boolean): string =>
  `<InstantiateVAppTemplateParams xmlns="${ours.namespace('params')}" name="${name}" powerOn="${powerOn}">` +
  `<Source href="${BASE}/api/vAppTemplate/vappTemplate-${template}"/></InstantiateVAppTemplateParams>`

export const pathOf = (href: string): string => href.replace(BASE, '').replace(ORIGINAL_BASE, '')
export const hrefOf = (node: Element | undefined): string => attribute(node, 'href') ?? ''

/** The nodes at the end of this path below a node. */
export function find(node: Element, ...way: readonly string[]): Element[] {
  return way.reduce<Element[]>(
    (nodes, name) => nodes.flatMap((each) => childrenByLocalName(each, name)),
    [node],
  )
}

export const linksOf = (node: Element): Record<string, string> =>
  Object.fromEntries(find(node, 'Link').map((each) => [attribute(each, 'rel') ?? '', hrefOf(each)]))

/** Every address in a document that is not an action. */
export function* toRead(node: Element): Iterable<string> {
  if (hrefOf(node) !== '' && !isAction(attribute(node, 'rel'), hrefOf(node))) yield hrefOf(node)
  for (const each of node.children) if (typeof each !== 'string') yield* toRead(each)
}

/** The document of a response, which must have this status and the matching type. */
export function read({ status, text, headers }: Answered, expected = 200): Element {
  assert.equal(status, expected, text)
  const root = readXml(text)
  const type = String(headers['content-type'])
  assert.match(type, /^application\/vnd\.skerry\.cloud\.\S+\+xml;version=5\.1$/)
  const said = attribute(root, 'type')?.split(';')[0]
  if (said !== undefined) assert.equal(type, `${said};version=5.1`)
  return root
}
