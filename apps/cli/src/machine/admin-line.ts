import { join } from 'node:path'

import type { Args } from '@skerry/command-line'

const PROGRAM = join(import.meta.dirname, '../../../cloud/src/admin/main.ts')

/** The arguments with which Node runs a parsed command of `skerry admin`. */
export const adminLine = (parsed: Args & { readonly name: string }): readonly string[] => [
  PROGRAM,
  JSON.stringify(parsed),
]
