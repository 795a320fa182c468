import { once } from 'node:events'
import { createServer } from 'node:net'

import { Failure } from './failure.ts'

/**
 * Prevents two processes from doing the same work. The lock is an abstract socket, not a file: the kernel releases it however we
 * exit. `refusal`: the message of the second one.
 */
export async function holdAlone(work: string, refusal: string): Promise<AsyncDisposable> {
  const server = createServer()
  server.listen(`\0skerry-${work}`)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Failure('refused', refusal, {
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

/** Only one `skerry up` or `skerry down` works on a site. */
export const holdSite = (dir: string): Promise<AsyncDisposable> =>
  holdAlone(`up:${dir}`, `another skerry up or down is running for ${dir}`)
