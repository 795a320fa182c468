import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request, type AgentOptions, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls'

import { Fault } from '@skerry/fault'
import { readBytes } from '@skerry/service'

import { distrust } from './distrust.ts'
import { whoIsPeer, whyNotPeer, type MachineRole, type Peer } from './machine-name.ts'
import { BODY_BYTES_MAX } from './wire.ts'

/** The certificate of this machine and the issuers it trusts. PEM. */
export interface MachineIdentity {
  readonly key: string
  readonly cert: string
  /** The trusted issuers of the peer. */
  readonly ca: string | readonly string[]
  /** The same, already parsed: links to many machines share it. */
  readonly context?: SecureContext
}

/** The identity with its parsed TLS context, for many links. */
export const sharing = (identity: MachineIdentity): MachineIdentity => ({
  ...identity,
  context: contextOf(identity),
})

const contextOf = ({ key, cert, ca, context }: MachineIdentity): SecureContext =>
  context ??
  createSecureContext({
    key,
    cert,
    ca: typeof ca === 'string' ? ca : [...ca],
    minVersion: 'TLSv1.3',
  })

/** The machine that must be the peer; without an id, any machine of that role. */
export interface Expected {
  readonly role: MachineRole
  readonly id?: string
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Instead of a JSON body: sent unchanged, with the given headers. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Sent on a new connection and never twice: it may not be repeated. */
  readonly once?: boolean
}

/** Until the response begins, including name resolution, connection and handshake. */
const ANSWER_MS = 28_000
/**
 * Until the peer's kernel accepts the connection. A machine that is off does not answer, and the kernel here retries less and less
 * often: after this time a new connection is better, otherwise a machine that is back would be noticed half a minute late.
 */
const CONNECT_MS = 5_000
const IDLE_SOCKETS = 4
/** Error codes of Node and OpenSSL when one side rejects the other's certificate. */
const REFUSED_CERTIFICATE = /^ERR_(SSL|TLS)|CERT|SIGNATURE|ISSUER|CRL/

/** A client for one other machine of the same cloud, with keep-alive connections. */
export class MachineLink implements Disposable {
  readonly #kept: Agent
  /** For requests that may be sent only once: a keep-alive connection may turn out to be dead. */
  readonly #fresh: Agent
  readonly #where: string
  readonly #target: Pick<RequestOptions, 'host' | 'port'>

  constructor(
    { address, port }: { address: string; port: number },
    identity: MachineIdentity,
    expected: Expected,
  ) {
    const { cloud } = whoIsPeer(new X509Certificate(identity.cert))
    this.#where = `${expected.role} ${expected.id ?? ''} at ${address}:${port}`.replace('  ', ' ')
    this.#target = { host: address, port }
    const options: AgentOptions = {
      secureContext: contextOf(identity),
      // Address and DNS name do not identify a machine; its certificate does.
      servername: '',
      checkServerIdentity: (_host, shown) => notExpected(shown, { cloud, ...expected }),
    }
    this.#kept = new Agent({ ...options, keepAlive: true, maxFreeSockets: IDLE_SOCKETS })
    this.#fresh = new Agent(options)
  }

  /** Returns the response once its head has arrived; the caller must read or destroy it. */
  async ask(requested: HostRequest): Promise<IncomingMessage> {
    for (let tried = 1; ; tried += 1) {
      const attempt = this.#send(requested, requested.once ? this.#fresh : this.#kept)
      try {
        return await attempt.answer
      } catch (error) {
        requested.signal?.throwIfAborted()
        // The peer may close a keep-alive connection just when it is used; requests without `once` can be repeated.
        if (tried === 1 && attempt.isReused()) continue
        throw this.#toFault(error)
      }
    }
  }

  /** Returns the byte stream of a screen, once the peer has accepted the upgrade. */
  async upgrade(requested: HostRequest, protocol: string): Promise<Duplex | IncomingMessage> {
    const headers = { ...requested.headers, connection: 'Upgrade', upgrade: protocol }
    const attempt = this.#send({ ...requested, headers }, this.#fresh)
    try {
      return await Promise.race([attempt.answer, attempt.upgraded])
    } catch (error) {
      requested.signal?.throwIfAborted()
      throw this.#toFault(error)
    }
  }

  /** Requests in progress continue; no connection is kept for later. */
  retire(): void {
    this.#kept.maxFreeSockets = 0
    for (const free of Object.values(this.#kept.freeSockets)) {
      for (const socket of free ?? []) socket.destroy()
    }
  }

  /** Whether any request is in progress. */
  get isUsed(): boolean {
    const agents = [this.#kept, this.#fresh]
    return agents.some(({ sockets }) => Object.keys(sockets).length > 0)
  }

  [Symbol.dispose](): void {
    this.#kept.destroy()
    this.#fresh.destroy()
  }

  #send({ method, path, body, text: plain, headers = {}, signal }: HostRequest, agent: Agent) {
    const text = body === undefined ? plain : JSON.stringify(body)
    const answer = Promise.withResolvers<IncomingMessage>()
    const upgraded = Promise.withResolvers<Duplex>()
    upgraded.promise.catch(() => undefined)
    const sent = request({
      ...this.#target,
      agent,
      method,
      path,
      headers: {
        ...headers,
        ...(text !== undefined && {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          'content-length': String(Buffer.byteLength(text)),
        }),
      },
      ...(signal && { signal }),
    })
    const timer = setTimeout(() => {
      sent.destroy(new Fault('unavailable', `timeout: no response from the ${this.#where}`))
    }, ANSWER_MS)
    sent.once('close', () => clearTimeout(timer))
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = new Fault(
        'unavailable',
        `timeout: the ${this.#where} does not accept connections`,
      )
      const waiting = setTimeout(() => sent.destroy(late), CONNECT_MS)
      socket.once('connect', () => clearTimeout(waiting))
      socket.once('close', () => clearTimeout(waiting))
    })
    sent.once('response', (response) => {
      clearTimeout(timer)
      answer.resolve(response)
    })
    sent.once('upgrade', (_response, socket, head) => {
      clearTimeout(timer)
      if (head.length > 0) socket.unshift(head)
      upgraded.resolve(socket)
    })
    sent.once('error', answer.reject)
    sent.end(text)
    return {
      answer: answer.promise,
      upgraded: upgraded.promise,
      isReused: () => sent.reusedSocket,
    }
  }

  #toFault(error: unknown): Fault {
    if (error instanceof Fault) return error
    const { code = '' } = error as NodeJS.ErrnoException
    return REFUSED_CERTIFICATE.test(code)
      ? distrust(`TLS certificate mismatch with the ${this.#where}`, error)
      : new Fault('unavailable', `cannot reach the ${this.#where}`, { cause: error })
  }
}

function notExpected(
  shown: PeerCertificate,
  { cloud, role, id }: Expected & { readonly cloud: string },
): Fault | undefined {
  try {
    const peer: Peer = whoIsPeer(new X509Certificate(shown.raw))
    const why = whyNotPeer(peer, { cloud, roles: [role], epoch: 0 })
    if (why === undefined && (id === undefined || peer.id === id)) return undefined
    return distrust(
      `expected ${role} ${id ?? ''} of cloud ${cloud}, found ${peer.role} ${peer.id} of cloud ${peer.cloud}`,
    )
  } catch (error) {
    return distrust((error as Fault).message, error)
  }
}

/** Reads a whole response, up to the size limit of our protocol. */
export async function readText(
  response: IncomingMessage,
  bytesMax = BODY_BYTES_MAX,
): Promise<string> {
  return (await readResponse(response, bytesMax)).toString('utf8')
}

export async function readResponse(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const timer = setTimeout(() => response.destroy(), ANSWER_MS)
  try {
    const tooLarge = () => new Fault('unavailable', 'the response is too large')
    return await readBytes(response, bytesMax, tooLarge)
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new Fault('unavailable', 'the response was interrupted', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
