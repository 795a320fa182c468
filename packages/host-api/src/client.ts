import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import type { HostId, Report } from '@skerry/vm'

import { MachineLink, readBytes, readText, type Identity } from './ask.ts'
import type { HostApi, HostRecord, Told } from './host-api.ts'
import { readLines } from './lines.ts'
import { SILENCE_MS } from './sessions.ts'
import {
  DISPLAY_PROTOCOL,
  PICTURE_BYTES_MAX,
  reviveFault,
  TICKET_HEADER,
  type StillRunning,
} from './wire.ts'

export interface HostAddress {
  readonly address: string
  readonly port: number
  readonly tls: Identity
  /** The only machine that is spoken to, whatever answers there. */
  readonly hostId: HostId
}

/** A host somewhere else, and the links to it. */
export interface ConnectedHost extends HostApi, Disposable {
  /** What is under way goes on to its end; nothing is kept for later. */
  retire(): void
  /** Whether anything is under way. */
  readonly isUsed: boolean
}

/** A host somewhere else. A fault that it threw is thrown again here, word for word. */
export function connectHost({ address, port, tls, hostId }: HostAddress): ConnectedHost {
  const link = new MachineLink({ address, port }, tls, { role: 'host', id: hostId })
  const vmPath = (vm: string) => `/host/v1/vms/${encodeURIComponent(vm)}`
  const stepPath = (vm: string, key: string) => `${vmPath(vm)}/steps/${encodeURIComponent(key)}`
  const follow = async (path: string, signal?: AbortSignal) => {
    const response = await link.ask({ method: 'GET', path, signal })
    if (response.statusCode !== 200) throw reviveFault(await readText(response))
    return response
  }
  return {
    async step({ vm, key, ...order }, goal, signal, progress) {
      for (;;) {
        signal?.throwIfAborted()
        const asked = { method: 'POST', path: stepPath(vm, key), body: { ...order, goal } } as const
        const said = await readAnswer(await link.ask({ ...asked, signal }))
        if (!isRunning(said)) return said as Report
        progress?.(said.progress)
      }
    },
    async stop(vm, key) {
      await readAnswer(await link.ask({ method: 'DELETE', path: stepPath(vm, key) }))
    },
    async *follow(session, signal) {
      const path = `/host/v1/changes?session=${encodeURIComponent(session)}`
      yield* readLines<Told>(await follow(path, signal), SILENCE_MS, signal)
    },
    async *records(signal) {
      yield* readLines<HostRecord>(await follow('/host/v1/records', signal), SILENCE_MS, signal)
    },
    async ping(session, number) {
      const asked = { method: 'POST', path: '/host/v1/changes/ping' } as const
      const answer = await link.ask({ ...asked, body: { session, number } })
      return (await readAnswer(answer)) as { highest: string }
    },
    async arm({ vm, boot, ticketHash }) {
      const asked = { method: 'POST', path: `${vmPath(vm)}/display/arm` } as const
      await readAnswer(await link.ask({ ...asked, body: { boot, ticketHash } }))
    },
    async open(vm, ticket, signal): Promise<Duplex> {
      const path = `${vmPath(vm)}/display`
      const asked = { method: 'GET', path, headers: { [TICKET_HEADER]: ticket }, signal } as const
      const opened = await link.upgrade(asked, DISPLAY_PROTOCOL)
      if ('statusCode' in opened) throw reviveFault(await readText(opened))
      return opened as Duplex
    },
    async takeScreenshot(vm, boot) {
      const path = `${vmPath(vm)}/display/picture?boot=${encodeURIComponent(boot)}`
      const response = await link.ask({ method: 'GET', path })
      if (response.statusCode !== 200) throw reviveFault(await readText(response))
      return readBytes(response, PICTURE_BYTES_MAX)
    },
    retire: () => link.retire(),
    get isUsed() {
      return link.isUsed
    },
    [Symbol.dispose]: () => link[Symbol.dispose](),
  }
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const text = await readText(response)
  const { statusCode = 0 } = response
  if (statusCode < 200 || statusCode > 299) throw reviveFault(text)
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Fault('unavailable', 'the host gave an answer that is not ours', { cause })
  }
}

const isRunning = (said: unknown): said is StillRunning =>
  (said as Partial<StillRunning>).running === true
