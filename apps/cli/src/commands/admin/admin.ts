import { adminCommands } from '@skerry/command-line'

import type { Command } from '../../command.ts'
import { adminLine } from '../../machine/admin-line.ts'

/** The commands of `skerry admin`. Each runs in a program of the cloud, whose modules take long to load. */
export const admin: readonly Command[] = adminCommands.map((declared) => ({
  ...declared,
  asks: 'none',
  program: 'admin',
  run: async ({ runProgram }, args) =>
    runProgram(process.execPath, adminLine({ name: declared.name, ...args })),
}))
