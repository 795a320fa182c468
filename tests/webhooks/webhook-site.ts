// What webhooks need: a PostgreSQL with the tables of a cloud, the egress as a program, receivers, and senders that can be killed.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { freePorts } from '@skerry/lab'
import { makeSeal, type Seal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { actingAs } from '../../apps/cloud/src/database/acting-as.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import type { Principal } from '../../apps/cloud/src/domain/authorize.ts'
import { makeCursors, type CursorsOf } from '../../apps/cloud/src/feeds/event-cursors.ts'
import { postThrough, type PostMessage } from '../../apps/cloud/src/webhooks/egress.ts'
import { WebhookSender } from '../../apps/cloud/src/webhooks/send-webhooks.ts'
import { newSecret } from '../../apps/cloud/src/webhooks/signature.ts'
import { addWebhook, type WebhookRow } from '../../apps/cloud/src/webhooks/webhooks.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'

export const BASE = 'https://cloud.example'

export interface SenderOptions {
  readonly url: string
  readonly sealKey: string
  readonly socket: string
}

export interface Heard {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly events: readonly HeardEvent[]
}
export interface HeardEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Answers a message. What it records is what a receiver has, whether the sender learns of it or not. */
export type Reply = (heard: Heard, response: ServerResponse) => void | Promise<void>

export interface WebhookSite extends AsyncDisposable {
  readonly db: Kysely<CloudTables>
  readonly org: OrgId
  readonly principal: Principal
  readonly port: number
  readonly cursors: CursorsOf
  readonly seal: Seal
  readonly sender: SenderOptions
  /** Replaced by a test; default: 204. */
  reply: Reply
  readonly heard: Heard[]
  /** A webhook at the receiver, with its secret. */
  add(name: string, more?: Partial<AddOptions>): Promise<Added>
  emit(n: number, kind?: string, org?: OrgId): Promise<void>
  readonly logged: string[]
  /** Starts a sender in this process. */
  startHere(post?: PostMessage): WebhookSender
  /** Ends the egress, or starts it again. */
  stopEgress(): Promise<void>
  startEgress(): Promise<void>
}

interface AddOptions {
  readonly org: OrgId
  readonly url: string
  readonly kinds: readonly string[]
}

export interface Added {
  readonly webhook: WebhookRow
  readonly secret: string
}

export async function openWebhookSite(): Promise<WebhookSite> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'skerry-webhooks-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabases())
  const cloud = stack.use(await openCloudDatabase(postgres))
  const { db, principal } = cloud
  const sealKey = randomBytes(32).toString('base64')
  const seal = makeSeal(
    () => sealKey,
    () => randomBytes(12),
  )
  const heard: Heard[] = []
  const logged: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const one: Heard = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        events: JSON.parse(body),
      }
      void site.reply(one, response)
    }, ignore)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const socket = join(dir, 'egress.sock')
  let egress: ChildProcess | undefined
  const stopEgress = () => kill(egress)
  const startEgress = async () => {
    const list = [
      { host: '127.0.0.1', ports: [port, 1], schemes: ['http'] },
      // Its name leads inside.
      { host: 'localhost', ports: [port], schemes: ['http'] },
    ]
    const health = { address: '127.0.0.1', port: await freePorts(1) }
    const config = join(dir, 'egress.json')
    const orgs = { [principal.org]: list }
    await writeFile(config, JSON.stringify({ listen: socket, health, orgs }))
    const program = join(import.meta.dirname, '../../apps/egress/src/main.ts')
    egress = spawn(process.execPath, [program, config], { stdio: ['ignore', 'pipe', 'inherit'] })
    await Promise.race([
      once(egress.stdout as NodeJS.ReadableStream, 'data'),
      once(egress, 'exit').then(() => assert.fail('the egress ended')),
    ])
  }
  await startEgress()
  stack.defer(stopEgress)
  const all = stack.move()
  const site: WebhookSite = {
    db,
    org: principal.org,
    principal: { ...principal, role: 'system administrator' },
    port,
    cursors: makeCursors(() => sealKey),
    seal,
    sender: { url: actingAs(cloud.url, 'skerry_system'), sealKey, socket },
    reply: (one, response) => {
      heard.push(one)
      response.writeHead(204).end()
    },
    heard,
    stopEgress,
    startEgress,
    async add(
      name,
      { org = principal.org, url = `http://127.0.0.1:${port}/`, kinds = ['test.'] } = {},
    ) {
      const secret = newSecret(randomBytes(32).toString('base64url'))
      const close = (what: string, about: string) => seal.close(what, about)
      const asked = { name, url, kinds, enabled: true }
      const { webhook } = await db
        .transaction()
        .execute((tx) => addWebhook(tx, site.principal, org, asked, { secret, close }))
      return { webhook, secret }
    },
    startHere: (post = postThrough(socket)) =>
      new WebhookSender({
        db,
        post,
        seal,
        cursors: site.cursors,
        base: new URL(BASE),
        log: (message, cause) => void logged.push(`${message} ${String(cause)}`),
        now: () => performance.now(),
        random: () => 0.5,
      }),
    logged,
    async emit(n, kind = 'test.n', org = principal.org) {
      await db
        .insertInto('event')
        .values(
          Array.from({ length: n }, (_, at) => ({
            kind,
            org,
            details: JSON.stringify({ n: at }),
          })),
        )
        .execute()
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
  return site
}

const ignore = (): void => undefined

export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export async function startSender(options: SenderOptions): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'sender-process.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => assert.fail('the sender ended')),
  ])
  return child
}

/** As a receiver checks it, by the text of Standard Webhooks, without our code. */
export function isSigned({ headers, body }: Heard, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  const signed = `${String(id)}.${String(time)}.${body}`
  const right = createHmac('sha256', key).update(signed).digest('base64')
  const isNow = Math.abs(Date.now() / 1000 - Number(time)) < 300
  return isNow && String(signatures).split(' ').includes(`v1,${right}`)
}
