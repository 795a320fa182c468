// Runs inside a lab host: sends malformed requests, or requests unknown URLs, and prints the responses.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { chanceOf, malform, type Malformed } from './malform.ts'
import { found, makeAll, operations, setRight } from './standing.ts'

export interface Report {
  readonly sent: number
  /** The number of responses per status; 0 if the connection ended without a response. */
  readonly statuses: Record<string, number>
  /** For each operation, how many requests reached its own code and the VM that they name. */
  readonly met: readonly number[]
  /** Responses that do not blame the request. */
  readonly broken: readonly { readonly request: string; readonly answer: string }[]
}

/** Every response comes within milliseconds; an incomplete request gets none. */
const PATIENCE_MS = 1_000
const LINES = 8
const BATCH = 100

const statuses: Record<string, number> = {}
const met = operations.map(() => 0)
const broken: { request: string; answer: string }[] = []
let sent = 0

async function open(): Promise<Socket> {
  const socket = connect(8080, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
}

function note(request: string, answer: string): void {
  sent++
  const status = statusOf(answer)
  statuses[status] = (statuses[status] ?? 0) + 1
  if (status >= 500) broken.push({ request: request.slice(0, 500), answer: answer.slice(0, 500) })
}

/** Sends it and reads one response; returns the connection if it can be used again. */
async function send(
  request: Malformed,
  operation: number,
  on: Socket | undefined,
): Promise<Socket | undefined> {
  const socket = on ?? (await open())
  const answer = await new Promise<string>((resolve) => {
    let seen = ''
    const finish = () => {
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('timeout')
      resolve(seen)
    }
    socket.setTimeout(PATIENCE_MS)
    socket.on('timeout', finish).on('close', finish)
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      if (seen.startsWith('HTTP/1.1 100')) seen = seen.slice(seen.indexOf('\r\n\r\n') + 4)
      if (isWhole(seen, request.bytes.startsWith('HEAD '))) finish()
    })
    if (request.isCut) socket.end(request.bytes, 'latin1')
    else socket.write(request.bytes, 'latin1')
  })
  note(request.bytes, answer)
  if (found(statusOf(answer), answer)) met[operation] = (met[operation] ?? 0) + 1
  // Its effects are undone, so that the next request finds the same state. They may occur without a response, or after it.
  if (/^(2|0|404)/.test(String(statusOf(answer)))) await setRight(operation)
  const isDone =
    request.needsOwnConnection || answer === '' || /\r\nconnection: close/i.test(answer)
  if (!isDone && !socket.destroyed) return socket
  // A reset leaves nothing in the kernel's tables.
  socket.resetAndDestroy()
  return undefined
}

function isWhole(seen: string, isHead: boolean): boolean {
  const end = seen.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = seen.slice(0, end)
  if (isHead || / 204 /.test(head.slice(0, 14))) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  return length === undefined ? seen.endsWith('0\r\n\r\n') : seen.length - end - 4 >= Number(length)
}

async function sendMalformed(each: number, seed: number): Promise<void> {
  const chance = chanceOf(seed)
  await makeAll(process.argv[5] ?? '')
  const requests = operations.map((operation) =>
    Array.from({ length: each }, () => malform(operation, chance)),
  )
  // Each operation has its own VM and its own connection: the effect of a request is undone before the next.
  const work = async (own: readonly Malformed[], operation: number) => {
    let line: Socket | undefined
    for (const request of own) {
      if (request.needsOwnConnection) await send(request, operation, undefined)
      else line = await send(request, operation, line?.destroyed ? undefined : line)
    }
    line?.destroy()
  }
  await Promise.all(requests.map(work))
}

/** Many at once on each connection, all different. */
async function askForUnknown(count: number): Promise<void> {
  const ask = async (line: number) => {
    const socket = await open()
    for (let from = line * BATCH; from < count; from += LINES * BATCH) {
      const paths = Array.from({ length: BATCH }, (_, at) => unknownPath(from + at))
      const heads = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n`)
      socket.write(heads.join(''))
      let seen = ''
      while ((seen.match(/HTTP\/1\.1 /g)?.length ?? 0) < BATCH || !seen.endsWith('}')) {
        const [chunk] = (await once(socket, 'data')) as [Buffer]
        seen += chunk.toString('latin1')
      }
      for (const answer of seen.split(/(?=HTTP\/1\.1 )/)) note('an unknown URL', answer)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: LINES }, (_, line) => ask(line)))
}

const unknownPath = (at: number): string =>
  [`/${at}`, `/api/${at}/x`, `/api/vms/no-${at}`, `/api/vms/no-${at}/folders/f`, `/?${at}=1`][
    at % 4
  ] as string

const [kind = '', count = '', seed = '1'] = process.argv.slice(2)
if (kind === 'malformed') await sendMalformed(Number(count), Number(seed))
else await askForUnknown(Number(count))
const report: Report = { sent, statuses, met, broken: broken.slice(0, 50) }
// Node waits for all sockets to close before it exits, and one that was reset during its end may never close.
process.stdout.write(JSON.stringify(report), () => process.exit())
