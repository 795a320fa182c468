import { readFile } from 'node:fs/promises'

import type { Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { maybe, needed } from './command.ts'

export async function databaseIn(requested: Args): Promise<string> {
  const file = maybe(requested, 'database-file')
  if (file === undefined) return needed(requested, 'database')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `--database-file: ${file} cannot be read`, { cause })
  })
  return text.trim()
}
