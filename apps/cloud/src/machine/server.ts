import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'

import { Fault, httpStatus, type FaultBody } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import type { Kysely } from 'kysely'

import type { CellIdentity, Issuing } from '../identity/issuers.ts'
import type { Database } from '../store/database.ts'
import { refusedAmong } from '../store/machines.ts'
import { readAccountStamp } from '../store/workflow-logins.ts'
import { peerOf, requireAdmitted } from './admit.ts'
import { checkCredentials } from './credentials.ts'
import { forWorkflows, type ForWorkflows } from './for-workflows.ts'
import { addGrant, removeGrant } from './grants.ts'
import { sendImage } from './images.ts'
import { join } from './join.ts'
import { renew } from './renew.ts'
import { machineCalls, type MachineCall } from './roles.ts'

export interface MachineWorld {
  readonly db: Kysely<Database>
  /** As it is now: it is renewed while we run. */
  identity(): CellIdentity
  readonly issuing: Issuing
  /** The directory where images lie, each named after its SHA-256. */
  readonly images: string
  /** What workflow servers are answered with, as soon as the cell is up. */
  forWorkflows?(): ForWorkflows | undefined
  readonly log: (message: string, cause?: unknown) => void
}

export interface MachineDoor extends AsyncDisposable {
  readonly server: Server
  /** Shows the identity as it is now; links that are open go on. */
  renewed(): void
}

const BODY_BYTES_MAX = 64 * 1024
/** Revoked is dropped within 5 s. */
const LOOK_MS = 2000

/** Where hosts, consoles and workflow servers come in, by certificate; to join, without one. */
export function openMachineDoor(world: MachineWorld): MachineDoor {
  const server = createServer({
    ...tlsOf(world.identity()),
    // A machine that joins has none. Whatever else is asked for is refused without.
    ...{ requestCert: true, rejectUnauthorized: false },
  })
  const hosts = new Map<TLSSocket, string>()
  server.on('secureConnection', (socket: TLSSocket) => {
    const id = hostAt(world, socket)
    if (id === undefined) return
    hosts.set(socket, id)
    socket.once('close', () => hosts.delete(socket))
    void dropRefused(world, new Map([[socket, id]]))
  })
  server.on('request', (request, response) => {
    answer(world, request, response).catch((error: unknown) => sendFault(world, error, response))
  })
  const timer = setInterval(() => void dropRefused(world, hosts), LOOK_MS)
  return {
    server,
    renewed: () => server.setSecureContext(tlsOf(world.identity())),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      const closed = new Promise((resolve) => {
        server.close(resolve)
      })
      server.closeAllConnections()
      await closed
    },
  }
}

const tlsOf = ({ cell, trusted }: CellIdentity) => ({
  ...{ ...cell, ca: [trusted.hosts, trusted.control], minVersion: 'TLSv1.3' as const },
})

/** undefined for whoever is no host; what he may do is judged when he asks. */
function hostAt(world: MachineWorld, socket: TLSSocket): string | undefined {
  try {
    const peer = peerOf(socket, world.identity().trusted)
    return peer?.role === 'host' ? peer.id : undefined
  } catch {
    socket.destroy()
    return undefined
  }
}

async function dropRefused(
  { db, log }: MachineWorld,
  hosts: ReadonlyMap<TLSSocket, string>,
): Promise<void> {
  try {
    const refused = await refusedAmong(db, [...new Set(hosts.values())])
    for (const [socket, id] of hosts) if (refused.has(id)) socket.destroy()
  } catch (error) {
    // Every request looks again, and gets no answer while the database is away.
    log('cannot see which hosts are revoked', error)
  }
}

async function answer(
  world: MachineWorld,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = URL.parse(request.url ?? '', 'https://cell')
  if (!address) throw new Fault('invalid', 'this is no address')
  const { pathname, searchParams } = address
  const found = Object.entries(machineCalls).find(
    ([, { method, path }]) =>
      (method === 'any' || method === request.method) && path.test(pathname),
  )
  if (!found) throw new Fault('not-found', 'there is nothing at this address')
  const [name, { path, roles }] = found as [MachineCall, (typeof machineCalls)[MachineCall]]
  const { trusted, name: self } = world.identity()
  if (roles === 'anyone') return send(response, await join(world, await readJson(request)))
  const peer: Peer = await requireAdmitted(world.db, peerOf(request.socket, trusted), {
    ...{ cloud: self.cloud, roles },
  })
  const { digest = '', grant = '' } = path.exec(pathname)?.groups ?? {}
  if (name === 'image') {
    return sendImage(world, peer, { digest, vm: searchParams.get('vm') ?? '' }, response)
  }
  if (name === 'api') {
    forWorkflows(world).api(request, response)
    return
  }
  send(response, await said[name as keyof typeof said](world, peer, { request, grant }))
}

interface Call {
  readonly request: IncomingMessage
  readonly grant: string
}

/** What is answered as JSON. */
const said = {
  renew: async (world, peer, { request }) => renew(world, peer, await readJson(request)),
  checkCredentials: async (world, peer, { request }) =>
    checkCredentials(world, peer, await readJson(request)),
  readStamp: async ({ db }) => ({ stamp: await readAccountStamp(db) }),
  addGrant: async (world, peer, { request }) => addGrant(world, peer, await readJson(request)),
  removeGrant: (world, peer, { grant }) => removeGrant(world, peer, grant),
} satisfies Partial<
  Record<MachineCall, (world: MachineWorld, peer: Peer, call: Call) => Promise<object>>
>

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Fault('invalid', 'the body is too large')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw new Fault('invalid', 'the body is no JSON', { cause })
  }
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  const text = JSON.stringify(body)
  const length = String(Buffer.byteLength(text))
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': length })
    .end(text)
}

function sendFault({ log }: MachineWorld, error: unknown, response: ServerResponse): void {
  const isOurs = error instanceof Fault
  if (!isOurs) log('a machine asked for what could not be done', error)
  if (response.headersSent) return void response.destroy()
  const fault = isOurs ? error : new Fault('unavailable', 'the cell could not do it now')
  const { kind, message, detail } = fault
  const body: FaultBody = { error: kind, message, ...(detail !== undefined && { detail }) }
  send(response, body, httpStatus[kind])
}
