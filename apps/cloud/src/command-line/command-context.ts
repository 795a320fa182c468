import type { CommandContext } from './command.ts'

/** Clock and randomness: only the main program takes these from the machine. */
interface CommandSources {
  readonly now: () => Date
  readonly bytes: (count: number) => Buffer
  readonly uuid: () => string
}

/** Time, serial numbers, secrets and ids, from the clock and the randomness of a program. */
export const sourcesOf = ({
  now,
  bytes,
  uuid,
}: CommandSources): Pick<CommandContext, 'issuing' | 'secret' | 'salt' | 'uuid'> => ({
  issuing: {
    clock: { now },
    // Positive and of a fixed length: the first byte is never 0 and never above 0x7f.
    serial: () => `01${bytes(15).toString('hex')}`,
  },
  secret: () => bytes(32).toString('base64url'),
  salt: () => bytes(16),
  uuid,
})
