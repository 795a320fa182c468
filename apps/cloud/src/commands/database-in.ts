import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

import { maybe, needed, type Asked } from '../command.ts'

/** Two ways to tell a database: what stands on a command line, with its password, is seen by everybody on the machine. */
export const databaseOptions = { database: 'postgres://…', 'database-file': 'FILE' } as const

export async function databaseIn(asked: Asked): Promise<string> {
  const file = maybe(asked, 'database-file')
  if (file === undefined) return needed(asked, 'database')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `--database-file: ${file} cannot be read`, { cause })
  })
  return text.trim()
}
