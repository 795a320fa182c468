// The local API of vmd on a free port, over a host that a test started.
import type { Host } from '@skerry/engine'
import { freePorts } from '@skerry/lab'

import { makeToken } from '../src/local/access/token.ts'
import { buildLocalServer } from '../src/local/server.ts'
import { openLocal } from '../src/open-local.ts'

interface ServeOptions {
  /** Default: none is needed. */
  readonly token?: string | undefined
  /** Of the built web UI. Default: it is not built. */
  readonly directory?: string
}

export interface ServedLocal extends AsyncDisposable {
  readonly port: number
}

export async function serveLocal(
  host: Host,
  { token, directory = '/nonexistent' }: ServeOptions = {},
): Promise<ServedLocal> {
  await using stack = new AsyncDisposableStack()
  let made = 0
  const local = stack.use(
    await openLocal(host, {
      restore: 'autostart',
      secret: () => `secret-${made++}`,
      locked: token !== undefined,
      webUi: { name: 'laptop', version: '1.2.3', path: '/usr/bin', directory },
    }),
  )
  const port = await freePorts()
  const server = buildLocalServer(local, {
    api: { kind: 'loopback', port },
    admits: async () => true,
    // A test connects from the process that answers; real users do not.
    isOurs: () => false,
    token: token === undefined ? undefined : makeToken(token),
    log: () => undefined,
  })
  stack.defer(() => server.close())
  stack.defer(() => local.endStreams())
  await server.listen({ port, host: '127.0.0.1' })
  const all = stack.move()
  return { port, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
