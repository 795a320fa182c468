// Prints the first words of who answers behind the address of a screen's page, as that page asks for them.
import { once } from 'node:events'

import { createWebSocketStream, WebSocket } from 'ws'

const { search: ticket } = new URL(process.argv[2] ?? '')
const { host, pathname, search } = new URL(
  decodeURIComponent(ticket.slice(1)).replace(/^mks:/, 'https:'),
)
const screen = createWebSocketStream(new WebSocket(`wss://${host}/screen${pathname}${search}`))
const [first] = (await once(screen, 'data')) as [Buffer]
process.stdout.write(first.subarray(0, 12))
screen.destroy()
