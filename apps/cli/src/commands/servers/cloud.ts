import { join } from 'node:path'

import { command } from '../../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../../cloud/src/main.ts')

export const cloud = command({
  name: 'cloud',
  asks: 'none',
  usage: '[COMMAND...]',
  summary:
    'administer a cloud on the machine of a cell, bypassing the API: hosts, organisations, users, quotas and more',
  examples: [
    'sudo skerry cloud host list',
    'sudo skerry cloud user list',
    'sudo skerry cloud quota set blue --vms 20',
  ],
  next: 'skerry cloud without arguments lists its subcommands',
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
