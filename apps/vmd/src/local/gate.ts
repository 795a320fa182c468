import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { ownHosts, passesFence, passesSocketFence, provenanceOf } from './fence.ts'
import { peerUid } from './peer.ts'
import type { Token } from './token.ts'

const REQUEST_MS = 60_000
const KEEP_ALIVE_MS = 72_000
/** Whoever may not ask may not keep a connection either. */
const STRANGER_MS = 2000

/** By which way requests come: over loopback, or through a file whose mode says who may. */
export type Door = { readonly kind: 'loopback'; readonly port: number } | { readonly kind: 'file' }

export interface GateOptions {
  readonly door: Door
  /** Whether this user may ask at all. */
  readonly admits: (uid: number) => Promise<boolean>
  /** Asked of every request, where there is one. */
  readonly token?: Token | undefined
  readonly log: (message: string, cause: unknown) => void
  /** Told of every request, also of those that are refused. */
  readonly asked?: () => void
}

/** Connections that become something else than requests and answers. */
export interface Upgrades {
  /** Whether this is such a request; all others are answered as if they had not asked for it. */
  readonly wants: (request: IncomingMessage) => boolean
  /** Takes one that has passed the fence; whether it carried the token is for the taker to judge. */
  readonly take: (upgrade: Upgrade) => void
}

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  /** So also where no token is wanted. */
  readonly carriesToken: boolean
}

interface Peer {
  readonly uid: number
  readonly admitted: boolean
}

/** Who is at the other end of a connection: being found out, then known. */
interface Meeting {
  readonly found: Promise<Peer>
  peer?: Peer
}

/** Nobody in particular: owns no directory, so shares none. */
export const NOBODY = -1

/** One answer to all who are not let in, whatever they asked for and whether it is there or not. */
export const refusal = answerOf(403, {
  code: 403,
  message: 'this API answers programs of this machine’s own users only',
  hint: 'ask as root, as a member of the group skerry or as the user who started vmd with sudo, and by the name localhost or 127.0.0.1',
})
const tokenWanted = answerOf(401, {
  code: 401,
  message: 'this vmd wants its token with every request',
  hint: 'send Authorization: Bearer and the word in the file that --token-file names',
})
export const unreadable = answerOf(400, { code: 400, message: 'the request cannot be read' })
const tooSlow = answerOf(408, { code: 408, message: 'the request did not arrive in time' })

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Stands before everything else: no path is looked up, no body is read and no VM is thought of
 * before it is known who asks and from where.
 */
export class Gate {
  readonly #options: GateOptions
  /** Undefined where no Host is asked for. */
  readonly #own: ReadonlySet<string> | undefined
  readonly #meetings = new WeakMap<Socket, Meeting>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#own = options.door.kind === 'file' ? undefined : ownHosts(options.door.port)
  }

  /** A server that hands on what passes. */
  serve(
    hand: (request: IncomingMessage, response: ServerResponse) => void,
    upgrades?: Upgrades,
  ): Server {
    const pass = (request: IncomingMessage, response: ServerResponse, goOn?: () => void) => {
      this.#options.asked?.()
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
    // A request without a Host is refused like one with a wrong Host, not in Node's own words.
    const server = createServer({
      ...{ requireHostHeader: false, requestTimeout: REQUEST_MS },
      shouldUpgradeCallback: (request) => upgrades?.wants(request) === true,
    })
    server.keepAliveTimeout = KEEP_ALIVE_MS
    server.on('connection', (socket) => this.#receive(socket))
    server.on('request', (request, response) => pass(request, response))
    server.on('checkExpectation', (request, response) => pass(request, response))
    server.on('checkContinue', (request, response) =>
      pass(request, response, () => response.writeContinue()),
    )
    server.on('upgrade', (request, socket, head) => {
      this.#options.asked?.()
      // Whoever goes away before the answer is nobody's mistake.
      socket.on('error', () => undefined)
      void this.#meet(request.socket).found.then(({ admitted }) => {
        if (!admitted || !this.#passes(request, passesSocketFence)) socket.end(written(refusal))
        else upgrades?.take({ request, socket, head, carriesToken: this.carriesToken(request) })
      })
    })
    return server
  }

  /** So also where no token is wanted. */
  carriesToken({ headers }: IncomingMessage): boolean {
    const { token } = this.#options
    return token === undefined || token.isIn(headers.authorization)
  }

  /** The user at the other end, of whom a request was let through; one that owns nothing where that cannot be known. */
  uidOf(socket: Socket): number {
    return this.#meet(socket).peer?.uid ?? NOBODY
  }

  /** Answers what Node could not read as a request. */
  async refuse(error: Error & { readonly code?: string }, socket: Socket): Promise<void> {
    const { admitted } = await this.#meet(socket).found
    if (!socket.writable) return void socket.destroy()
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    socket.end(written(admitted ? (late ? tooSlow : unreadable) : refusal))
  }

  #objection(request: IncomingMessage, { admitted }: Peer): RawAnswer | undefined {
    if (!admitted || !this.#passes(request, passesFence)) return refusal
    return isPage(request) || this.carriesToken(request) ? undefined : tokenWanted
  }

  #passes(request: IncomingMessage, fence: typeof passesFence): boolean {
    return this.#own === undefined || fence(provenanceOf(request), this.#own)
  }

  #receive(socket: Socket): void {
    void this.#meet(socket).found.then(({ admitted }) => {
      if (!admitted) socket.setTimeout(STRANGER_MS, () => socket.destroy())
    })
  }

  /** Looked up once per connection. */
  #meet(socket: Socket): Meeting {
    const known = this.#meetings.get(socket)
    if (known) return known
    const found = this.#lookUp(socket).catch((error: unknown) => {
      this.#options.log('could not find out who asks', error)
      return { uid: NOBODY, admitted: false }
    })
    const meeting: Meeting = { found }
    void found.then((peer) => (meeting.peer = peer))
    this.#meetings.set(socket, meeting)
    return meeting
  }

  async #lookUp(socket: Socket): Promise<Peer> {
    if (this.#options.door.kind === 'file') return { uid: NOBODY, admitted: true }
    const uid = await peerUid(socket)
    if (uid === undefined) return { uid: NOBODY, admitted: false }
    return { uid, admitted: await this.#options.admits(uid) }
  }
}

/** A browser cannot be told to send a token with a page. This one holds nothing before a socket brings it. */
const isPage = ({ method, url = '' }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && url.startsWith('/console/')

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

function written({ status, headers, body }: RawAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
