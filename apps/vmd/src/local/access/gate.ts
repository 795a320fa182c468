import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import {
  createListener,
  isFromPage,
  listenerBounds,
  markAuthenticated,
  rawResponse,
} from '@skerry/service'

import { ownHosts, passesFence, passesSocketFence, provenanceOf } from './fence.ts'
import { findPeer, isOwnSocket } from './peer.ts'
import type { TicketSessions } from './ticket-sessions.ts'
import type { Token } from './token.ts'

/** How long a connection of a rejected user may stay open. */
const STRANGER_MS = 2000

/** How requests arrive: over loopback, or through a Unix socket whose file mode restricts access. */
export type GateAddress =
  | { readonly kind: 'loopback'; readonly port: number }
  | { readonly kind: 'file' }

export interface GateOptions {
  readonly api: GateAddress
  /** Whether this user may send requests. */
  readonly admits: (uid: number) => Promise<boolean>
  /** Whether this process itself holds the socket. Default: the kernel's tables decide. */
  readonly isOurs?: (inode: string) => boolean
  /** Required with every request, if set. */
  readonly token?: Token | undefined
  /** Sessions of browsers: the cookie of one replaces the token, in requests of our own page. */
  readonly pageSessions?: Pick<TicketSessions, 'has'>
  readonly log: (message: string, cause: unknown) => void
  /** Called for every request, including rejected ones. */
  readonly requested?: () => void
}

/** Connections that are upgraded to another protocol. */
export interface Upgrades {
  /** Whether to handle this upgrade request; all others are answered as plain requests. */
  readonly wants: (request: IncomingMessage) => boolean
  /** Takes an upgrade that passed the origin check; the callee decides whether it needs the token. */
  readonly take: (upgrade: Upgrade) => void
}

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  /** Also true if no token is required. */
  readonly carriesToken: boolean
}

interface Peer {
  readonly uid: number
  readonly admitted: boolean
}

/** The lookup of the user at the other end of a connection, and its result. */
interface PeerLookup {
  readonly found: Promise<Peer>
  peer?: Peer
}

/** An unknown user: owns no directory, so cannot share any. */
export const UNKNOWN_UID = -1

/** The same answer for every rejected client, regardless of the request and of whether the resource exists. */
export const refusal = answerOf(403, {
  code: 403,
  message: 'this API is restricted to local users of this machine',
  hint: 'connect as root, as a member of the group skerry or as the user who started vmd with sudo, and use the host name localhost or 127.0.0.1',
})
const tokenWanted = answerOf(401, {
  code: 401,
  message: 'this vmd requires its token with every request',
  hint: 'send Authorization: Bearer with the token in the file given by --token-file',
})
export const unreadable = answerOf(400, { code: 400, message: 'the request cannot be read' })
const tooSlow = answerOf(408, { code: 408, message: 'the request did not arrive in time' })

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The access check before everything else: no path is looked up, no body is read and no VM is
 * accessed before the caller and the origin of the request are known.
 */
export class Gate {
  readonly #options: GateOptions
  /** Undefined if the Host header is not checked. */
  readonly #own: ReadonlySet<string> | undefined
  readonly #meetings = new WeakMap<Socket, PeerLookup>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#own = options.api.kind === 'file' ? undefined : ownHosts(options.api.port)
  }

  /** A server that passes admitted requests on. */
  serve(
    hand: (request: IncomingMessage, response: ServerResponse) => void,
    upgrades?: Upgrades,
  ): Server {
    const pass = (request: IncomingMessage, response: ServerResponse, goOn?: () => void) => {
      this.#options.requested?.()
      const judge = (peer: Peer) => {
        response.setHeader('x-content-type-options', 'nosniff')
        const no = this.#objection(request, peer)
        if (no) {
          response.writeHead(no.status, no.headers).end(no.body)
        } else {
          goOn?.()
          hand(request, response)
        }
      }
      // Only the first requests of a connection have to wait.
      const { peer, found } = this.#meet(request.socket)
      if (peer) judge(peer)
      else void found.then(judge)
    }
    // A request without a Host is rejected like one with a wrong Host, not by Node's own error.
    const server = createListener(
      { bounds: listenerBounds.local },
      {
        requireHostHeader: false,
        shouldUpgradeCallback: (request) => upgrades?.wants(request) === true,
      },
    )
    server.on('connection', (socket) => this.#receive(socket))
    server.on('request', (request, response) => pass(request, response))
    server.on('checkExpectation', (request, response) => pass(request, response))
    server.on('checkContinue', (request, response) =>
      pass(request, response, () => response.writeContinue()),
    )
    server.on('upgrade', (request, socket, head) => {
      this.#options.requested?.()
      // A client may disconnect before the answer; that is not an error.
      socket.on('error', () => undefined)
      void this.#meet(request.socket).found.then(({ admitted }) => {
        if (!admitted || !this.#passes(request, passesSocketFence)) socket.end(rawAnswer(refusal))
        else upgrades?.take({ request, socket, head, carriesToken: this.carriesToken(request) })
      })
    })
    return server
  }

  /** Also true if no token is required, and for the session of a browser. */
  carriesToken(request: IncomingMessage): boolean {
    return this.carriesTokenItself(request) || this.#isOfSession(request)
  }

  /** Also true if no token is required. The session of a browser does not count. */
  carriesTokenItself(request: IncomingMessage): boolean {
    const { token } = this.#options
    return token === undefined || token.isIn(request.headers.authorization)
  }

  /** A browser sends the cookie to every port of this machine, and with requests of their pages: only our own page counts. */
  #isOfSession(request: IncomingMessage): boolean {
    const { headers } = request
    return (
      this.#own?.has(headers.host?.toLowerCase() ?? '') === true &&
      isFromPage(request, `http://${headers.host}`) &&
      this.#options.pageSessions?.has(headers.cookie, this.uidOf(request.socket)) === true
    )
  }

  /** The user at the other end of an admitted connection; an unknown user if that cannot be determined. */
  uidOf(socket: Socket): number {
    return this.#meet(socket).peer?.uid ?? UNKNOWN_UID
  }

  /** Answers input that Node could not parse as a request. */
  async refuse(error: Error & { readonly code?: string }, socket: Socket): Promise<void> {
    const { admitted } = await this.#meet(socket).found
    if (!socket.writable) return void socket.destroy()
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    socket.end(rawAnswer(admitted ? (late ? tooSlow : unreadable) : refusal))
  }

  #objection(request: IncomingMessage, { admitted }: Peer): RawAnswer | undefined {
    if (!admitted || !this.#passes(request, passesFence)) return refusal
    return isOpen(request) || this.carriesToken(request) ? undefined : tokenWanted
  }

  #passes(request: IncomingMessage, fence: typeof passesFence): boolean {
    return this.#own === undefined || fence(provenanceOf(request), this.#own)
  }

  #receive(socket: Socket): void {
    void this.#meet(socket).found.then(({ admitted }) => {
      if (admitted) markAuthenticated(socket)
      else socket.setTimeout(STRANGER_MS, () => socket.destroy())
    })
  }

  /** Looked up once per connection. */
  #meet(socket: Socket): PeerLookup {
    const known = this.#meetings.get(socket)
    if (known) return known
    const found = this.#lookUp(socket).catch((error: unknown) => {
      this.#options.log('failed to look up the user of a connection', error)
      return { uid: UNKNOWN_UID, admitted: false }
    })
    const meeting: PeerLookup = { found }
    void found.then((peer) => (meeting.peer = peer))
    this.#meetings.set(socket, meeting)
    return meeting
  }

  async #lookUp(socket: Socket): Promise<Peer> {
    if (this.#options.api.kind === 'file') return { uid: UNKNOWN_UID, admitted: true }
    const holder = await findPeer(socket)
    if (holder === undefined) return { uid: UNKNOWN_UID, admitted: false }
    const { uid, inode } = holder
    const { admits, isOurs = isOwnSocket } = this.#options
    // A connection from this process was caused by someone else, e.g. through a forward: not by this process's user.
    if (uid === process.getuid?.() && isOurs(inode)) return { uid: UNKNOWN_UID, admitted: false }
    return { uid, admitted: await admits(uid) }
  }
}

/**
 * A browser cannot be made to send a token with a page. The page holds no data before its own requests deliver it. With a ticket it
 * gets a session.
 */
const isOpen = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' || method === 'HEAD'
    ? /^\/(console\/|ui([/?]|$))/.test(url)
    : method === 'POST' && url === '/api/ui/session'

function answerOf(status: number, content: object): RawAnswer {
  const body = JSON.stringify(content)
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'x-content-type-options': 'nosniff',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      connection: 'close',
    },
    body,
  }
}

const rawAnswer = ({ status, headers, body }: RawAnswer): string =>
  rawResponse(status, headers, body)
