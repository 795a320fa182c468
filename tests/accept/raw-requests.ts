// Runs inside a lab host: reads a list of requests as bytes, sends each on its own connection, and counts the responses. Raw
// sockets, because no HTTP client would send such requests.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export interface RawJob {
  /** The user to switch to before the first connection. */
  readonly uid?: number
  readonly host?: string
  readonly port?: number
  /** Each as latin1 text, sent as a whole. */
  readonly requests: readonly string[]
  /** Close the connection right after the last byte, without waiting for a response. */
  readonly hangUp?: boolean
  readonly parallel?: number
}

export interface RawAnswer {
  /** 0 if the connection ended without one. */
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Until an answer begins: many that are sent at once wait for each other. */
const ANSWER_MS = 120_000
/** For how long an answer without an end is read: that of an event stream. */
const PATIENCE_MS = 10_000

function send(job: RawJob, request: string): Promise<RawAnswer> {
  const { host = '127.0.0.1', port = 8080, hangUp = false } = job
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const finish = () => {
      const [head = '', ...rest] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n')
      const body = rest.join('\r\n\r\n')
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body })
    }
    const socket = connect({ host, port }, () => {
      if (hangUp) socket.end(request, 'latin1', () => socket.destroy())
      else socket.write(request, 'latin1')
    })
    socket.setTimeout(ANSWER_MS, () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      socket.setTimeout(PATIENCE_MS)
      chunks.push(chunk)
      // A reset leaves nothing in the kernel's tables, which vmd reads for every connection.
      if (isWhole(Buffer.concat(chunks).toString('latin1'))) socket.resetAndDestroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', finish)
  })
}

/** Enough of HTTP to detect the end of one response. */
function isWhole(seen: string): boolean {
  const end = seen.indexOf('\r\n\r\n')
  if (end === -1 || seen.startsWith('HTTP/1.1 100')) return false
  if (seen.startsWith('HTTP/1.1 101')) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(seen.slice(0, end))?.[1]
  return length !== undefined && seen.length - end - 4 >= Number(length)
}

const job = JSON.parse(await text(process.stdin)) as RawJob
if (job.uid !== undefined) {
  process.setgroups?.([])
  process.setgid?.(job.uid)
  process.setuid?.(job.uid)
}
const answers: RawAnswer[] = []
let next = 0
await Promise.all(
  Array.from({ length: job.parallel ?? 8 }, async () => {
    for (let at = next++; at < job.requests.length; at = next++) {
      answers[at] = await send(job, job.requests[at] ?? '')
    }
  }),
)
process.stdout.write(JSON.stringify(answers))
