// A viewer of a screen, like a browser or like an attacker.
import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'

import { greetingLength, until, VIEWER_HELLO } from '@skerry/lab'
import { WebSocket } from 'ws'

/** Viewers, hosts and the test share one process, with up to a hundred screens. */
const PATIENCE_MS = 60_000

/** The request for a screen. */
export interface Asking {
  /** Of a console, or of the balancer. */
  readonly url: string
  readonly ca: string
  readonly vm: string
  readonly ticket: string
  readonly origin?: string
}

export interface Viewer extends Disposable {
  readonly socket: WebSocket
  /** All received bytes, while they are kept. */
  readonly bytes: number
  /** Types, and waits until the screen has echoed it. */
  echo(text: string): Promise<void>
  /** The code and the reason of its end. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  /** Stops reading. */
  pause(): void
}

const addressOf = ({ url, vm, ticket }: Asking): string =>
  `${url.replace(/^http/, 'ws')}/screen/vm-${vm}?ticket=${ticket}`

/** Opens a screen and completes the handshake of RFB; returns the status if it is rejected. */
export async function look(asking: Asking): Promise<Viewer | number> {
  const { ca, vm, origin } = asking
  const socket = new WebSocket(addressOf(asking), 'binary', {
    ca,
    perMessageDeflate: false,
    ...(origin !== undefined && { origin }),
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  const opened = Promise.withResolvers<number | undefined>()
  socket.once('open', () => opened.resolve(undefined))
  socket.once('unexpected-response', (_request, response) => {
    opened.resolve(response.statusCode ?? 0)
    response.resume()
    socket.terminate()
  })
  socket.on('error', (error) => opened.reject(error))
  let greeting = Buffer.alloc(0)
  let echoed = ''
  let bytes = 0
  let heard: () => void = () => undefined
  socket.on('message', (data: Buffer) => {
    bytes += data.length
    const wanted = greetingLength(vm)
    if (greeting.length < wanted) {
      greeting = Buffer.concat([greeting, data])
      echoed += greeting.subarray(wanted).toString('latin1')
      greeting = greeting.subarray(0, wanted)
    } else echoed = (echoed + data.toString('latin1')).slice(-4096)
    heard()
  })
  const refused = await opened.promise
  if (refused !== undefined) return refused
  socket.send(VIEWER_HELLO)
  await until(
    'the screen should send its greeting',
    () => greeting.length === greetingLength(vm),
    PATIENCE_MS,
  )
  const name = greeting.subarray(-vm.length).toString()
  if (name !== vm) throw new Error(`this is the screen of ${name}, and that of ${vm} was asked for`)
  return {
    socket,
    closed,
    get bytes() {
      return bytes
    },
    async echo(text) {
      const back = Promise.withResolvers<void>()
      const late = setTimeout(
        () => back.reject(new Error(`${text} was not said back`)),
        PATIENCE_MS,
      )
      heard = () => void (echoed.includes(text) && back.resolve())
      socket.send(Buffer.from(text))
      await back.promise.finally(() => clearTimeout(late))
    },
    pause: () => socket.pause(),
    [Symbol.dispose]: () => socket.terminate(),
  }
}

/** The same, which must open. */
export async function mustLook(asking: Asking): Promise<Viewer> {
  const viewer = await look(asking)
  if (typeof viewer === 'number') throw new Error(`the screen was refused with ${viewer}`)
  return viewer
}

/** An open connection, so that a handshake can be sent at a certain moment. */
export async function connectTo(url: string, ca: string, session?: Buffer): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(url)
  const socket = connectTls({ host, port: Number(port), ca, ...(session && { session }) })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

/** Sends a WebSocket handshake over it, and returns the status; nothing more is read, and it is closed unless it is kept. */
export async function shake(
  socket: TLSSocket,
  { vm, ticket, origin }: Pick<Asking, 'vm' | 'ticket' | 'origin'>,
  { keep = false } = {},
): Promise<number> {
  socket.write(
    [
      `GET /screen/vm-${vm}?ticket=${encodeURIComponent(ticket)} HTTP/1.1`,
      'host: console',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...(origin === undefined ? [] : [`origin: ${origin}`]),
      '',
      '',
    ].join('\r\n'),
  )
  const answered = Promise.withResolvers<number>()
  socket.once('data', (data: Buffer) => answered.resolve(Number(data.toString().split(' ')[1])))
  socket.once('close', () => answered.resolve(0))
  const status = await answered.promise
  if (!keep) socket.destroy()
  return status
}

/** This many at once, in the order of the list. */
export async function inTurns<T, R>(
  list: readonly T[],
  width: number,
  work: (each: T, at: number) => Promise<R>,
): Promise<R[]> {
  const done: R[] = []
  let next = 0
  const lane = async () => {
    while (next < list.length) {
      const at = next++
      done[at] = await work(list[at] as T, at)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  return done
}
