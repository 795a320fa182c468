// The screen of a VM for a client that is not a browser.
import { WebSocket } from 'ws'

/** The first bytes of the display at the address that a ticket opens. */
export async function greetingAt(wss: string, ca: string): Promise<string> {
  const socket = new WebSocket(wss, { ca })
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(data.toString('latin1')))
      socket.once('error', reject)
      socket.once('close', (code) => reject(new Error(`the screen was closed with ${code}`)))
    })
  } finally {
    socket.terminate()
  }
}
