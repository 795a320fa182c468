import type { World } from '../command.ts'
import { Failure } from '../failure.ts'

const LOOK_EVERY_MS = 200

/** Looks again and again until there is something; after too long a time the words of `else` are the Failure's. */
export async function until<Seen>(
  { now, wait }: Pick<World, 'now' | 'wait'>,
  withinMs: number,
  look: () => Promise<Seen | undefined>,
  otherwise: () => Promise<{ readonly message: string; readonly hint: string }>,
): Promise<Seen> {
  const deadline = now() + withinMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (now() > deadline) {
      const { message, hint } = await otherwise()
      throw new Failure('timedOut', message, { hint })
    }
    await wait(LOOK_EVERY_MS)
  }
}
