import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

import { maybe, needed, type CommandInput } from './command.ts'

/** The database URL can come from a file, because every user of the machine can read a password on a command line. */
export const databaseOptions = { database: 'postgres://…', 'database-file': 'FILE' } as const

export async function databaseIn(requested: CommandInput): Promise<string> {
  const file = maybe(requested, 'database-file')
  if (file === undefined) return needed(requested, 'database')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `--database-file: ${file} cannot be read`, { cause })
  })
  return text.trim()
}
