// Runs inside a host of the lab: sends malformed requests, or asks for what is not there, and prints what was answered.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { operations } from './hostile.ts'
import { chanceOf, malform, type Malformed } from './malform.ts'

export interface Report {
  readonly sent: number
  /** How often each status came; 0 where the connection ended without an answer. */
  readonly statuses: Record<string, number>
  /** Answers that say it was not the asker's mistake. */
  readonly broken: readonly { readonly request: string; readonly answer: string }[]
}

const PATIENCE_MS = 10_000
const LINES = 8
const BATCH = 100

const statuses: Record<string, number> = {}
const broken: { request: string; answer: string }[] = []
let sent = 0

async function open(): Promise<Socket> {
  const socket = connect(8080, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

function note(request: string, answer: string): void {
  sent++
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
  statuses[status] = (statuses[status] ?? 0) + 1
  if (status >= 500) broken.push({ request: request.slice(0, 500), answer: answer.slice(0, 500) })
}

/** Sends it and reads one answer; the connection comes back when it can be used again. */
async function send(request: Malformed, on: Socket | undefined): Promise<Socket | undefined> {
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
  const isDone =
    request.needsOwnConnection || answer === '' || /\r\nconnection: close/i.test(answer)
  if (!isDone && !socket.destroyed) return socket
  // A reset leaves nothing behind in the kernel's tables.
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
  const all = operations.flatMap((operation) =>
    Array.from({ length: each }, () => malform(operation, chance)),
  )
  let next = 0
  const work = async () => {
    let line: Socket | undefined
    for (let at = next++; at < all.length; at = next++) {
      const request = all[at] as Malformed
      if (request.needsOwnConnection) await send(request, undefined)
      else line = await send(request, line?.destroyed ? undefined : line)
    }
    line?.destroy()
  }
  await Promise.all(Array.from({ length: LINES }, work))
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
process.stdout.write(
  JSON.stringify({ sent, statuses, broken: broken.slice(0, 50) } satisfies Report),
)
