import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import { Fault } from '@skerry/fault'
import type { HostId, OverlayJoin, Report, UsageSeries, UsageWindow } from '@skerry/vm'

import { MachineLink, readResponse, readText, type MachineIdentity } from './ask.ts'
import { distrust, isDistrust } from './distrust.ts'
import type { HostApi, HostRecord, SessionLine } from './host-api.ts'
import { readLines } from './lines.ts'
import { SILENCE_MS } from './sessions.ts'
import {
  DISPLAY_PROTOCOL,
  PICTURE_BYTES_MAX,
  reviveFault,
  TICKET_HEADER,
  type StillRunning,
} from './wire.ts'

/** A host has these values in memory; a page waits for them. */
const USAGE_MS = 5000

export interface HostAddress {
  readonly address: string
  readonly port: number
  readonly tls: MachineIdentity
  /** The expected host: any other machine at this address is rejected. */
  readonly hostId: HostId
}

/** A remote host and the connections to it. */
export interface ConnectedHost extends HostApi, Disposable {
  /** Requests in progress continue; no connection is kept for later. */
  retire(): void
  /** Whether any request is in progress. */
  readonly isUsed: boolean
}

/** A remote host. A fault that it throws is thrown again here with the same message. */
export function connectHost({ address, port, tls, hostId }: HostAddress): ConnectedHost {
  const link = new MachineLink({ address, port }, tls, { role: 'host', id: hostId })
  const vmPath = (vm: string) => `/host/v1/vms/${encodeURIComponent(vm)}`
  const stepPath = (vm: string, key: string) => `${vmPath(vm)}/steps/${encodeURIComponent(key)}`
  const follow = async (path: string, signal?: AbortSignal) => {
    const response = await link.ask({ method: 'GET', path, signal })
    if (response.statusCode !== 200) throw faultOf(await readText(response))
    return response
  }
  return {
    async step({ vm, key, ...order }, goal, signal, progress) {
      for (;;) {
        signal?.throwIfAborted()
        const requested = {
          method: 'POST',
          path: stepPath(vm, key),
          body: { ...order, goal },
        } as const
        const answer = await readAnswer(await link.ask({ ...requested, signal }))
        if (!isRunning(answer)) return answer as Report
        progress?.(answer.progress)
      }
    },
    async stop(vm, key) {
      await readAnswer(await link.ask({ method: 'DELETE', path: stepPath(vm, key) }))
    },
    async *follow(session, signal) {
      const path = `/host/v1/changes?session=${encodeURIComponent(session)}`
      yield* readLines<SessionLine>(await follow(path, signal), SILENCE_MS, signal)
    },
    async *records(signal) {
      yield* readLines<HostRecord>(await follow('/host/v1/records', signal), SILENCE_MS, signal)
    },
    async ping(session, fencingToken) {
      const requested = { method: 'POST', path: '/host/v1/changes/ping' } as const
      const answer = await link.ask({ ...requested, body: { session, fencingToken } })
      return (await readAnswer(answer)) as { highest: string }
    },
    async arm({ vm, boot, ticketHash }) {
      const requested = { method: 'POST', path: `${vmPath(vm)}/display/arm` } as const
      await readAnswer(await link.ask({ ...requested, body: { boot, ticketHash } }))
    },
    async open(vm, ticket, signal): Promise<Duplex> {
      const path = `${vmPath(vm)}/display`
      const requested = {
        method: 'GET',
        path,
        headers: { [TICKET_HEADER]: ticket },
        signal,
      } as const
      const opened = await link.upgrade(requested, DISPLAY_PROTOCOL)
      if ('statusCode' in opened) throw faultOf(await readText(opened))
      return opened as Duplex
    },
    async takeScreenshot(vm, boot) {
      const path = `${vmPath(vm)}/display/picture?boot=${encodeURIComponent(boot)}`
      const response = await link.ask({ method: 'GET', path })
      if (response.statusCode !== 200) throw faultOf(await readText(response))
      return readResponse(response, PICTURE_BYTES_MAX)
    },
    readUsage: (vm, window) => readUsage(link, vmPath(vm), window),
    joinOverlay: (join) => joinOverlay(link, join),
    retire: () => link.retire(),
    get isUsed() {
      return link.isUsed
    },
    [Symbol.dispose]: () => link[Symbol.dispose](),
  }
}

async function joinOverlay(link: MachineLink, body: OverlayJoin): Promise<void> {
  await readAnswer(await link.ask({ method: 'PUT', path: '/host/v1/overlay', body }))
}

async function readUsage(
  link: MachineLink,
  vmPath: string,
  { step, points }: UsageWindow,
): Promise<UsageSeries> {
  const path = `${vmPath}/usage?step=${step}&points=${points}`
  const signal = AbortSignal.timeout(USAGE_MS)
  try {
    return (await readAnswer(await link.ask({ method: 'GET', path, signal }))) as UsageSeries
  } catch (error) {
    if (!signal.aborted) throw error
    const message = 'timeout: the host does not report what its VMs use'
    throw new Fault('unavailable', message, { cause: error })
  }
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const text = await readText(response)
  const { statusCode = 0 } = response
  if (statusCode < 200 || statusCode > 299) throw faultOf(text)
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Fault('unavailable', 'unexpected response from the host', { cause })
  }
}

/** A host that rejects the certificate of this machine has not rejected the request itself. */
function faultOf(text: string): Fault {
  const fault = reviveFault(text)
  return isDistrust(fault)
    ? distrust(`the host rejects the certificate of this machine: ${fault.message}`, fault)
    : fault
}

const isRunning = (answer: unknown): answer is StillRunning =>
  (answer as Partial<StillRunning>).running === true
