// A site of an attacker, over HTTPS.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import { startIssuer } from '@skerry/lab'

export interface HostileSite extends AsyncDisposable {
  readonly port: number
}

/** Serves an empty page at every address. */
export async function startHostileSite(): Promise<HostileSite> {
  await using issuer = await startIssuer('hostile')
  const keys = await issuer.issue('IP:127.0.0.1', 'DNS:localhost')
  const server = createServer({ ...keys }, (_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Another site</title><body>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
