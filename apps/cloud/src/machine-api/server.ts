import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import {
  closeListener,
  createSecureListener,
  every,
  internalFault,
  listenerBounds,
  readJson,
  sendJson,
  serveJson,
  urlOf,
} from '@skerry/service'

import type { CellIdentity } from '../identity/issuers.ts'
import { refusedAmong } from '../identity/machines.ts'
import { readAccountStamp } from '../tenants/workflow-logins.ts'
import { peerOf, requireAdmitted } from './admit.ts'
import type { MachineContext } from './context.ts'
import { checkCredentials, checkSession } from './credentials.ts'
import { forWorkflows } from './for-workflows.ts'
import { addGrant, removeGrant } from './grants.ts'
import { sendImage } from './images.ts'
import { join } from './join.ts'
import { giveOverlayCertificate } from './overlay.ts'
import { renew } from './renew.ts'
import { machineCalls, type MachineCall } from './roles.ts'
import { noteSender } from './runs.ts'

export interface MachineListener extends AsyncDisposable {
  readonly server: Server
  /** Shows the current identity to new connections; open ones continue. */
  renewed(): void
}

const BODY_BYTES_MAX = 64 * 1024
/** A revoked host is disconnected within 5 s. */
const LOOK_MS = 2000

/** Opens the machine API for hosts, consoles and workflow servers, with a certificate; joining needs none. */
export function openMachineListener(context: MachineContext): MachineListener {
  const server = createSecureListener(
    { bounds: listenerBounds.machines },
    {
      ...tlsOf(context.identity()),
      // A joining machine has no certificate. All other calls are rejected without one.
      requestCert: true,
      rejectUnauthorized: false,
    },
  )
  const hosts = new Map<TLSSocket, string>()
  // Every request checks again, and fails while the database is unreachable.
  const unread = (error: unknown) => context.log('cannot read which hosts are revoked', error)
  server.on('secureConnection', (socket: TLSSocket) => {
    const id = hostAt(context, socket)
    if (id === undefined) return
    hosts.set(socket, id)
    socket.once('close', () => hosts.delete(socket))
    dropRefused(context, new Map([[socket, id]])).catch(unread)
  })
  serveJson(
    server,
    (request, response) => answer(context, request, response),
    internalFault('the cell could not handle the request', context.log),
  )
  const closing = new AbortController()
  every(LOOK_MS, closing.signal, () => dropRefused(context, hosts), unread)
  return {
    server,
    renewed: () => server.setSecureContext(tlsOf(context.identity())),
    async [Symbol.asyncDispose]() {
      closing.abort()
      await closeListener(server)
    },
  }
}

const tlsOf = ({ cell, trusted }: CellIdentity) => ({
  ...cell,
  ca: [trusted.hosts, trusted.control],
  minVersion: 'TLSv1.3' as const,
})

/** undefined for a peer that is not a host; its rights are checked at each request. */
function hostAt(context: MachineContext, socket: TLSSocket): string | undefined {
  try {
    const peer = peerOf(socket, context.identity().trusted)
    return peer?.role === 'host' ? peer.id : undefined
  } catch {
    socket.destroy()
    return undefined
  }
}

async function dropRefused(
  { db }: MachineContext,
  hosts: ReadonlyMap<TLSSocket, string>,
): Promise<void> {
  const refused = await refusedAmong(db, [...new Set(hosts.values())])
  for (const [socket, id] of hosts) if (refused.has(id)) socket.destroy()
}

async function answer(
  context: MachineContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = urlOf(request)
  const found = Object.entries(machineCalls).find(
    ([, { method, path }]) =>
      (method === 'any' || method === request.method) && path.test(pathname),
  )
  if (!found) throw new Fault('not-found', 'there is nothing at this address')
  const [name, { path, roles }] = found as [MachineCall, (typeof machineCalls)[MachineCall]]
  const { trusted, name: self } = context.identity()
  if (roles === 'anyone') return sendJson(response, 200, await join(context, await bodyOf(request)))
  const peer: Peer = await requireAdmitted(context.db, peerOf(request.socket, trusted), {
    cloud: self.cloud,
    roles,
  })
  const { digest = '', grant = '' } = path.exec(pathname)?.groups ?? {}
  if (name === 'image') {
    return sendImage(context, peer, { digest, vm: searchParams.get('vm') ?? '' }, response)
  }
  if (name === 'api') {
    noteSender(request, peer.id)
    forWorkflows(context).api(request, response)
    return
  }
  sendJson(response, 200, await said[name as keyof typeof said](context, peer, { request, grant }))
}

interface Call {
  readonly request: IncomingMessage
  readonly grant: string
}

/** The calls that respond with JSON. */
const said = {
  renew: async (context, peer, { request }) => renew(context, peer, await bodyOf(request)),
  overlay: async (context, peer, { request }) =>
    giveOverlayCertificate(context, peer, await bodyOf(request)),
  checkCredentials: async (context, peer, { request }) =>
    checkCredentials(context, peer, await bodyOf(request)),
  checkSession: async (context, peer, { request }) =>
    checkSession(context, peer, await bodyOf(request)),
  readStamp: async ({ db }) => ({ stamp: await readAccountStamp(db) }),
  addGrant: async (context, peer, { request }) => addGrant(context, peer, await bodyOf(request)),
  removeGrant: (context, peer, { grant }) => removeGrant(context, peer, grant),
} satisfies Partial<
  Record<MachineCall, (context: MachineContext, peer: Peer, call: Call) => Promise<object>>
>

const bodyOf = (request: IncomingMessage): Promise<unknown> => readJson(request, BODY_BYTES_MAX)
