import { once } from 'node:events'
import { createServer } from 'node:net'

import { Failure } from '../terminal/failure.ts'

/**
 * Prevents two processes from working on the same site. The lock is an abstract socket, not a file: the kernel releases it
 * however we exit.
 */
export async function holdSite(dir: string): Promise<AsyncDisposable> {
  const server = createServer()
  server.listen(`\0skerry-up:${dir}`)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Failure('refused', `another skerry up or down is running for ${dir}`, {
      cause,
      hint: 'wait until it ends, or stop it with Ctrl-C',
    })
  }
  server.unref()
  return {
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
