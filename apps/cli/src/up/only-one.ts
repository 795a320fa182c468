import { once } from 'node:events'
import { createServer } from 'node:net'

import { Failure } from '../failure.ts'

/**
 * Two who make the same site at once would be in each other's way. The name that is held is not a file: the kernel gives it back
 * however we end.
 */
export async function holdSite(dir: string): Promise<AsyncDisposable> {
  const server = createServer()
  server.listen(`\0skerry-up:${dir}`)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Failure('refused', `another skerry up or down is at work on ${dir}`, {
      cause,
      hint: 'wait until it has ended, or end it with Ctrl-C',
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
