// Sends raw bytes to a server and reads one response to each: an HTTP client would not send such requests.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import type { Malformed } from './malformed.ts'

export interface RawAnswer {
  /** 0 if the connection ended without a response. */
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** No response takes longer: after this time none will come. */
const PATIENCE_MS = 20_000

/** One connection after another: each is used as long as possible. */
export class RawLine {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  async ask(request: Malformed): Promise<RawAnswer> {
    const own = request.needsOwnConnection
    const kept = own || this.#socket?.writable !== true ? undefined : this.#socket
    const socket = kept ?? (await this.#open())
    const answer = await exchange(socket, request)
    const ends = own || answer.status === 0 || answer.headers.get('connection') === 'close'
    // A stream continues after its beginning.
    const streams = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (ends || streams) socket.destroy()
    else this.#socket = socket
    return answer
  }

  close(): void {
    this.#socket?.destroy()
  }

  async #open(): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
}

function exchange(socket: Socket, { bytes, isCut, method }: Malformed): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let seen = ''
    const leave = () => {
      clearTimeout(timer)
      socket.off('data', take).off('close', ended)
    }
    const ended = () => {
      leave()
      resolve(read(seen))
    }
    const take = (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      while (seen.startsWith('HTTP/1.1 100')) seen = seen.slice(seen.indexOf('\r\n\r\n') + 4)
      if (isWhole(seen, method === 'HEAD')) ended()
    }
    const timer = setTimeout(() => {
      leave()
      socket.destroy()
      reject(new Error(`no answer to ${bytes.slice(0, 500)}: ${seen.slice(0, 500)}`))
    }, PATIENCE_MS)
    socket.on('data', take).on('close', ended)
    if (isCut) socket.end(bytes, 'latin1')
    else socket.write(bytes, 'latin1')
  })
}

/** Enough of HTTP to detect the end of one response. */
function isWhole(seen: string, isHead: boolean): boolean {
  const end = seen.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = seen.slice(0, end)
  if (isHead || /^HTTP\/1\.1 (204|304)/.test(head)) return true
  if (/\r\ncontent-type: text\/event-stream/i.test(head)) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  return length === undefined ? seen.endsWith('0\r\n\r\n') : seen.length - end - 4 >= Number(length)
}

function read(seen: string): RawAnswer {
  const end = seen.indexOf('\r\n\r\n')
  const [line = '', ...fields] = seen.slice(0, Math.max(end, 0)).split('\r\n')
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const
    }),
  )
  const length = Number(headers.get('content-length') ?? Number.NaN)
  const raw = end === -1 ? '' : seen.slice(end + 4)
  const body = Number.isNaN(length) ? '' : raw.slice(0, length)
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0),
    headers,
    text: Buffer.from(body, 'latin1').toString('utf8'),
  }
}
