import type { CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'

const LOOK_EVERY_MS = 200

/** Polls until `look` returns a value; after the deadline it throws a Failure with the texts of `otherwise`. */
export async function until<Seen>(
  { now, wait }: Pick<CliContext, 'now' | 'wait'>,
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
