import type { World } from './command.ts'
import { Failure } from './failure.ts'
import type { Method } from './local-client.ts'
import { showProgress, type Tell } from './progress.ts'

const POLL_MS = 300

/** Work of the daemon that goes on behind a 202. */
interface Operation {
  readonly state: 'running' | 'succeeded' | 'failed'
  /** From 0 to 100. */
  readonly progress?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly hint?: string }
}

type Working = Pick<World, 'api' | 'wait'>

/**
 * Asks for work that takes a while and answers its result. The daemon may answer at the end, or 202 with an operation,
 * which is then followed.
 */
export async function longWork<Result = unknown>(
  world: Working,
  tell: Tell,
  ...[method, path, body]: readonly [Method, string, object]
): Promise<Result> {
  const reply = await world.api.ask<Result>(method, path, { body, async: true })
  return reply.status === 202 && reply.location !== undefined
    ? ((await followOperation(world, reply.location, tell)) as Result)
    : reply.body
}

/** The same, with its progress on the screen. */
export async function doLongWork<Result = unknown>(
  world: World,
  label: string,
  ...asked: readonly [Method, string, object]
): Promise<Result> {
  return showProgress(world, label, async (tell) => longWork<Result>(world, tell, ...asked))
}

async function followOperation(
  { api, wait }: Working,
  location: string,
  tell: Tell,
): Promise<unknown> {
  for (;;) {
    const { body } = await api.ask<Operation>('GET', location)
    if (body.state === 'succeeded') return body.result
    if (body.state === 'failed') {
      const { message = 'the work failed', hint, code } = body.error ?? {}
      throw new Failure(code === 504 ? 'timedOut' : 'refused', message, { hint, body: body.error })
    }
    // Work that cannot tell how far it is stays at 0, which a bar would show as standing still.
    tell(body.progress || undefined)
    await wait(POLL_MS)
  }
}
