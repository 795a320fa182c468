// The screen of a VM as a client that is no browser meets it.
import { WebSocket } from 'ws'

/** What the display says first at the address that a ticket opens. */
export async function greetingAt(wss: string, ca: string): Promise<string> {
  const socket = new WebSocket(wss, { ca })
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(data.toString('latin1')))
      socket.once('error', reject)
    })
  } finally {
    socket.terminate()
  }
}
