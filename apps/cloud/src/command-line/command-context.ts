import { logLine } from '@skerry/service'

import type { CommandContext } from './command.ts'

/** Clock, randomness and log output: only the main program takes these from the machine. */
export interface CommandSources {
  readonly now: () => Date
  readonly bytes: (count: number) => Buffer
  readonly uuid: () => string
  readonly write: (text: string) => void
}

/** Time, serial numbers, secrets and ids, from the clock and the randomness of a program. */
export const sourcesOf = ({
  now,
  bytes,
  uuid,
}: Omit<CommandSources, 'write'>): Pick<
  CommandContext,
  'issuing' | 'secret' | 'salt' | 'uuid'
> => ({
  issuing: {
    clock: { now },
    // Positive and of a fixed length: the first byte is never 0 and never above 0x7f.
    serial: () => `01${bytes(15).toString('hex')}`,
  },
  secret: () => bytes(32).toString('base64url'),
  salt: () => bytes(16),
  uuid,
})

/** Builds the context of a command from the clock, the randomness and the log of its program. */
export const commandContext = (
  sources: CommandSources,
  io: Pick<CommandContext, 'stopped' | 'print' | 'readInput'>,
): CommandContext => ({
  ...io,
  ...sourcesOf(sources),
  log: (message, cause) => sources.write(logLine(sources.now(), message, cause)),
})
