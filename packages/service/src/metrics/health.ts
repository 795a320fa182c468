// The health listener of a server, for the operator's monitoring: liveness, readiness and metrics. It is a separate listener that is
// not public; default: a loopback address.
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIP } from 'node:net'

import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'

import { closeListener, pathOf, refuseWrite, sendJsonLine, sendText } from '../http/json-server.ts'
import { listenerBounds } from '../http/listener-bounds.ts'
import { createListener } from '../http/listener.ts'
import type { Conditions } from './conditions.ts'
import type { MeasuredServer } from './metric-table.ts'
import { metricsType } from './metrics.ts'

/** `health` in the configuration of a server. */
export const HealthListener = Type.Object(
  {
    address: Type.String(),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** Must be true if the address is that of all interfaces. */
    anyAddress: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type HealthListener = Static<typeof HealthListener>

const LOOPBACK = '127.0.0.1'
/** The default port of each kind of server. */
export const healthPorts: Readonly<Record<MeasuredServer, number>> = {
  cell: 9641,
  console: 9642,
  workflow: 9643,
  worker: 9644,
  egress: 9645,
  network: 9646,
}

export interface HealthContext {
  readonly server: MeasuredServer
  /** From the configuration. */
  readonly listen: HealthListener | undefined
  readonly conditions: Pick<Conditions, 'failing'>
  readonly metrics: { text(): string }
  /** Updates the conditions that need requests to other servers. */
  readonly look?: () => Promise<void>
  readonly now: () => number
  readonly log: (message: string, cause?: unknown) => void
}

/** How long a response waits for the update, and how long its result is valid. */
const LOOK_MS = 3_000
const FRESH_MS = 1_000

/** Validates the configured listener. */
export function healthListener(
  server: MeasuredServer,
  listen: HealthListener | undefined,
): HealthListener {
  if (listen === undefined) return { address: LOOPBACK, port: healthPorts[server] }
  const { address, anyAddress = false } = listen
  if (isIP(address) === 0) {
    throw new Fault('invalid', `health.address must be an IP address, not ${address}`)
  }
  if (/^(0\.0\.0\.0|[0:]+)$/.test(address) && !anyAddress) {
    throw new Fault('invalid', `health.address must not be ${address}: anyone could reach it`, {
      hint: 'set the address of one interface, or add "anyAddress": true if a firewall protects it',
    })
  }
  return listen
}

export function healthServer(context: Omit<HealthContext, 'server' | 'listen' | 'log'>): Server {
  const look = remembered(context)
  const server = createListener({ bounds: listenerBounds.health })
  server.on('request', (request, response) => {
    // A process without free file descriptors cannot read its own metrics, and must not end for that.
    answer(context, look, request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end()
    })
  })
  return server
}

/** Opens the listener. If another process uses the default port, this is only logged; a configured port must be free. */
export async function openHealth(context: HealthContext): Promise<AsyncDisposable> {
  const { address, port } = healthListener(context.server, context.listen)
  const server = healthServer(context)
  server.listen({ host: address, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    if (context.listen !== undefined || !isTaken) throw error
    const how = 'set another port in "health" of its configuration'
    context.log(
      `${address}:${port} is in use: /healthz, /readyz and /metrics are not served; ${how}`,
    )
  }
  return { [Symbol.asyncDispose]: () => closeListener(server) }
}

/** One update at a time; concurrent requests wait for it, up to a limit. */
function remembered({ look, now }: Pick<HealthContext, 'look' | 'now'>): () => Promise<void> {
  let under: Promise<void> | undefined
  let seen = -Infinity
  return async () => {
    if (look === undefined || now() - seen < FRESH_MS) return
    under ??= look().finally(() => {
      under = undefined
      seen = now()
    })
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, LOOK_MS)
    await Promise.race([under.catch(() => undefined), late.promise])
    clearTimeout(timer)
  }
}

async function answer(
  context: Pick<HealthContext, 'conditions' | 'metrics'>,
  look: () => Promise<void>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (refuseWrite(request, response)) return
  const path = pathOf(request.url)
  if (path === '/healthz') return sendJsonLine(response, 200, { health: 'ok' })
  if (path === '/readyz') {
    await look()
    const failing = context.conditions.failing()
    const ready = failing.length === 0
    return sendJsonLine(response, ready ? 200 : 503, { ready, failing })
  }
  if (path === '/metrics') {
    await look()
    return sendText(response, 200, metricsType, context.metrics.text())
  }
  const message = 'not found; available: /healthz, /readyz, /metrics'
  sendJsonLine(response, 404, { error: 'not-found', message })
}
