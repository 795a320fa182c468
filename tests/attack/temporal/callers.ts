// Calls everything that a Temporal server offers, as an unprivileged user: node callers.ts '{"port": …, "ca": …, "shown": …}'.
// Prints, as JSON, which calls got a response at which port. The modules are loaded first, because that user may not be able to
// read them.
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { Connection, type TLSConfig } from '@temporalio/client'

import type { Attempt, Attack } from './attack.ts'

const NO_ACCOUNT = 65_534
const CALL_MS = 3_000
/** For calls of which some must be answered, on a busy machine too. */
const ANSWERED_MS = 30_000
/** gRPC status codes for an unreachable server, and for a call that the client itself aborted. */
const NO_ANSWER: readonly unknown[] = [14, 4, 1]

const { port, ca, shown, only } = JSON.parse(process.argv[2] ?? '') as Attack
process.setgroups?.([])
process.setgid?.(NO_ACCOUNT)
process.setuid?.(NO_ACCOUNT)

const trusting = {
  serverNameOverride: 'temporal.skerry',
  serverRootCACertificate: Buffer.from(ca),
}
const ways: Readonly<Record<string, TLSConfig | undefined>> = {
  plain: undefined,
  'TLS without a certificate': trusting,
  'TLS with the certificate': {
    ...trusting,
    clientCertPair: { crt: Buffer.from(shown.cert), key: Buffer.from(shown.key) },
  },
}

type Rpc = (request: object) => Promise<unknown>

/** The calls of a service of the client, from its own description. */
const rpcsOf = (service: object): string[] =>
  Object.entries(service).flatMap(([name, value]) =>
    typeof value === 'function' && name !== 'rpcImpl' && (only?.includes(name) ?? true)
      ? [name]
      : [],
  )

/** Every call of the frontend's services, from their own descriptions. */
async function callAll(at: number, way: string, tls: TLSConfig | undefined): Promise<Attempt[]> {
  const connection = Connection.lazy({
    address: `127.0.0.1:${at}`,
    interceptors: [],
    ...(tls && { tls }),
  })
  const { workflowService, operatorService, healthService } = connection
  const calls = [workflowService, operatorService, healthService].flatMap((service) =>
    rpcsOf(service).map((name) => ({ service: service as unknown as Record<string, Rpc>, name })),
  )
  const tried = await Promise.all(
    calls.map(async ({ service, name }): Promise<Attempt> => {
      const code = await connection
        .withDeadline(Date.now() + (only ? ANSWERED_MS : CALL_MS), async () => service[name]?.({}))
        .then(
          () => 0,
          (error: { code?: number }) => error.code,
        )
      return { port: at, way, name, code, answered: !NO_ANSWER.includes(code) }
    }),
  )
  await connection.close()
  return tried
}

/** A member of Temporal's ring sends a greeting first, and gets one back: version 2, "init req". */
const GREETING = Buffer.from(`0010010000000001${'0'.repeat(16)}`, 'hex')
const TLS_ALERT = 0x15

/** Whether a socket returns anything but a TLS alert. */
async function greet(at: number, way: string, socket: Socket): Promise<Attempt> {
  const heard = await new Promise<Buffer>((resolve) => {
    const parts: Buffer[] = []
    const end = () => resolve(Buffer.concat(parts))
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('error', end).on('close', end)
    socket.setTimeout(CALL_MS, () => socket.destroy())
    socket.write(GREETING)
  })
  const answered = heard.length > 0 && heard[0] !== TLS_ALERT
  return { port: at, way, name: 'greeting of a member', answered }
}

const SERVICES = 4
const rows = (from: number) => Array.from({ length: SERVICES }, (_, at) => from + at)
const called = rows(port).flatMap((at) =>
  Object.entries(ways).map(([way, tls]) => callAll(at, way, tls)),
)
const greeted = rows(port + SERVICES).flatMap((at) => {
  const options = { port: at, host: '127.0.0.1', rejectUnauthorized: false }
  return [
    greet(at, 'plain', connectTcp(at, '127.0.0.1')),
    greet(at, 'TLS without a certificate', connectTls(options)),
    greet(at, 'TLS with the certificate', connectTls({ ...options, ...shown })),
  ]
})
const calls = (await Promise.all(called)).flat()
const found = [...calls, ...(await Promise.all(greeted))]
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), found }), () => process.exit(0))
