import { Socket } from 'node:net'

import { Client, escapeIdentifier } from 'pg'

export interface ListenOptions {
  /** postgres://user@host:port/database */
  readonly url: string
  readonly applicationName: string
  readonly channel: string
  /** Called for each notification, and after each connection: what was sent before it is lost. */
  readonly notified: () => void
  /** Waits; returns early when the signal is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

const RECONNECT_MS = 1_000
const CONNECT_MS = 3_000
/** A lost machine does not end its connections: the kernel asks after this time without traffic. */
const KEEP_ALIVE_MS = 10_000
/** A server that does not answer must not delay the stop of ours. */
const END_MS = 1_000

/**
 * Listens for notifications of a channel until the signal is aborted, over a connection of its own. While the database is away there
 * are none, so the caller also looks by itself from time to time.
 */
export async function listenTo(options: ListenOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await listenOnce(options, signal).catch(() => undefined)
    await options.pause(RECONNECT_MS, signal)
  }
}

async function listenOnce(
  { url, applicationName, channel, notified }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const socket = new Socket()
  const client = new Client({
    connectionString: url,
    stream: () => socket,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
  })
  const ended = Promise.withResolvers<void>()
  client.on('error', () => ended.resolve())
  client.on('end', () => ended.resolve())
  client.on('notification', notified)
  const late: NodeJS.Timeout[] = []
  const endSoon = () => late.push(setTimeout(() => socket.destroy(), END_MS))
  const stop = () => {
    endSoon()
    ended.resolve()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    await client.connect()
    await client.query(`listen ${escapeIdentifier(channel)}`)
    notified()
    if (!signal.aborted) await ended.promise
  } finally {
    signal.removeEventListener('abort', stop)
    endSoon()
    await client.end().catch(() => undefined)
    for (const each of late) clearTimeout(each)
  }
}
