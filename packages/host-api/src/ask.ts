import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request, type AgentOptions, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls'

import { Fault } from '@skerry/fault'

import { whoIsPeer, whyNotPeer, type MachineRole, type Peer } from './machine-name.ts'
import { BODY_BYTES_MAX } from './wire.ts'

/** What this machine shows, and whom it believes. PEM. */
export interface Identity {
  readonly key: string
  readonly cert: string
  /** The issuers whose word counts for the other side. */
  readonly ca: string | readonly string[]
  /** The same, read before: links to many machines share it. */
  readonly context?: SecureContext
}

/** The identity with what is read of it, for many links. */
export const sharing = (identity: Identity): Identity => ({
  ...identity,
  context: contextOf(identity),
})

const contextOf = ({ key, cert, ca, context }: Identity): SecureContext =>
  context ??
  createSecureContext({
    ...{ key, cert, ca: typeof ca === 'string' ? ca : [...ca], minVersion: 'TLSv1.3' },
  })

/** The machine that must be at the other end; any of that role where no id is named. */
export interface Expected {
  readonly role: MachineRole
  readonly id?: string
}

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Instead of a body that is JSON: sent as it is, and as what its headers say. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** Until the answer begins, with all that comes before it: name, connection, handshake. */
const ANSWER_MS = 28_000
/**
 * Until the other machine's kernel takes the connection. One that is off answers nothing, and the kernel here asks it again
 * more and more seldom: after so long it is better to begin anew, or a machine that is back would be seen half a minute late.
 */
const CONNECT_MS = 5_000
const IDLE_SOCKETS = 4
/** What Node and OpenSSL call it when one side does not accept the other's certificate. */
const DISTRUST = /^ERR_(SSL|TLS)|CERT|SIGNATURE|ISSUER|CRL/

/** The way to one other machine of the same cloud, over links that are kept. */
export class MachineLink implements Disposable {
  readonly #kept: Agent
  /** For what may be asked once only: a kept link may turn out to be dead. */
  readonly #fresh: Agent
  readonly #where: string
  readonly #target: Pick<RequestOptions, 'host' | 'port'>

  constructor(
    { address, port }: { address: string; port: number },
    identity: Identity,
    expected: Expected,
  ) {
    const { cloud } = whoIsPeer(new X509Certificate(identity.cert))
    this.#where = `${expected.role} ${expected.id ?? ''} at ${address}:${port}`.replace('  ', ' ')
    this.#target = { host: address, port }
    const options: AgentOptions = {
      secureContext: contextOf(identity),
      // Which address it has and what DNS calls it says nothing about who it is.
      servername: '',
      checkServerIdentity: (_host, shown) => notExpected(shown, { cloud, ...expected }),
    }
    this.#kept = new Agent({ ...options, keepAlive: true, maxFreeSockets: IDLE_SOCKETS })
    this.#fresh = new Agent(options)
  }

  /** The answer from its first byte on; who takes it must read it or destroy it. */
  async ask(asked: Asked): Promise<IncomingMessage> {
    for (let tried = 1; ; tried += 1) {
      const attempt = this.#send(asked, this.#kept)
      try {
        return await attempt.answer
      } catch (error) {
        asked.signal?.throwIfAborted()
        // The other side may let go of a kept link just when it is used; all that is asked can be asked twice.
        if (tried === 1 && attempt.isReused()) continue
        throw this.#toFault(error)
      }
    }
  }

  /** The bytes of a screen, once the other side has agreed. */
  async upgrade(asked: Asked, protocol: string): Promise<Duplex | IncomingMessage> {
    const headers = { ...asked.headers, connection: 'Upgrade', upgrade: protocol }
    const attempt = this.#send({ ...asked, headers }, this.#fresh)
    try {
      return await Promise.race([attempt.answer, attempt.upgraded])
    } catch (error) {
      asked.signal?.throwIfAborted()
      throw this.#toFault(error)
    }
  }

  /** What is under way goes on to its end; nothing is kept for later. */
  retire(): void {
    this.#kept.maxFreeSockets = 0
    for (const free of Object.values(this.#kept.freeSockets)) {
      for (const socket of free ?? []) socket.destroy()
    }
  }

  /** Whether anything is under way. */
  get isUsed(): boolean {
    const agents = [this.#kept, this.#fresh]
    return agents.some(({ sockets }) => Object.keys(sockets).length > 0)
  }

  [Symbol.dispose](): void {
    this.#kept.destroy()
    this.#fresh.destroy()
  }

  #send({ method, path, body, text: plain, headers = {}, signal }: Asked, agent: Agent) {
    const text = body === undefined ? plain : JSON.stringify(body)
    const answer = Promise.withResolvers<IncomingMessage>()
    const upgraded = Promise.withResolvers<Duplex>()
    upgraded.promise.catch(() => undefined)
    const sent = request({
      ...{ ...this.#target, agent, method, path },
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
      sent.destroy(new Fault('unavailable', `the ${this.#where} did not answer in time`))
    }, ANSWER_MS)
    sent.once('close', () => clearTimeout(timer))
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = new Fault('unavailable', `the ${this.#where} does not take connections`)
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
    return DISTRUST.test(code)
      ? new Fault('forbidden', `the ${this.#where} and we do not trust each other`, {
          cause: error,
        })
      : new Fault('unavailable', `the ${this.#where} cannot be reached`, { cause: error })
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
    return new Fault(
      'forbidden',
      `expected the ${role} ${id ?? ''} of ${cloud}, found the ${peer.role} ${peer.id} of ${peer.cloud}`,
    )
  } catch (error) {
    return error as Fault
  }
}

/** A whole answer that is small enough to be one of ours. */
export async function readText(
  response: IncomingMessage,
  bytesMax = BODY_BYTES_MAX,
): Promise<string> {
  return (await readBytes(response, bytesMax)).toString('utf8')
}

export async function readBytes(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => response.destroy(), ANSWER_MS)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) throw new Fault('unavailable', 'the answer is too large')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new Fault('unavailable', 'the answer broke off', { cause: error })
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks)
}
