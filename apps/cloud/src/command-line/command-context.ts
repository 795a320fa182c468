import type { CommandContext } from './command.ts'

/** Clock, randomness and log output: only the main program takes these from the machine. */
export interface CommandSources {
  readonly now: () => Date
  readonly bytes: (count: number) => Buffer
  readonly uuid: () => string
  readonly write: (text: string) => void
}

/** Builds the context of a command from the clock, the randomness and the log of its program. */
export const commandContext = (
  { now, bytes, uuid, write }: CommandSources,
  io: Pick<CommandContext, 'stopped' | 'print' | 'readInput'>,
): CommandContext => ({
  ...io,
  issuing: {
    clock: { now },
    // Positive and of a fixed length: the first byte is never 0 and never above 0x7f.
    serial: () => `01${bytes(15).toString('hex')}`,
  },
  secret: () => bytes(32).toString('base64url'),
  salt: () => bytes(16),
  uuid,
  log: (message, cause) => {
    const chain = cause instanceof Error ? ` ${cause.stack ?? cause.message}` : ''
    write(`${now().toISOString()} ${message}${chain}\n`)
  },
})
