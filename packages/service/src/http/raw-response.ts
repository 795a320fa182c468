import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** The last response on a connection, as text: for sockets that have no response object, or no longer. */
export function rawResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const all = {
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

const unread: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request was not complete in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too large'],
}

/** A request that is not valid HTTP reaches no route: the response is written to the socket, which is then closed. */
export function refuseUnread(
  render: (status: number, message: string) => { readonly type: string; readonly body: string },
  headers: Readonly<Record<string, string>> = {},
) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const [status, message] = unread[error.code ?? ''] ?? [400, 'the request is not HTTP/1.1']
    const { type, body } = render(status, message)
    socket.end(rawResponse(status, { 'content-type': type, ...headers }, body), () =>
      socket.destroy(),
    )
  }
}
