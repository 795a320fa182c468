// Prints the first words of who answers at a console's WebSocket.
import { once } from 'node:events'

import { createWebSocketStream, WebSocket } from 'ws'

const screen = createWebSocketStream(new WebSocket(process.argv[2] ?? ''))
const [first] = (await once(screen, 'data')) as [Buffer]
process.stdout.write(first.subarray(0, 12))
screen.destroy()
