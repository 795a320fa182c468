import { once } from 'node:events'
import { createServer } from 'node:net'

/** Whether the port is free on all IPv4 addresses. */
export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '0.0.0.0')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
