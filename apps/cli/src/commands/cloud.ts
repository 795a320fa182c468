import { join } from 'node:path'

import { command } from '../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../cloud/src/main.ts')

export const cloud = command({
  name: 'cloud',
  asks: 'nobody',
  usage: '[COMMAND...]',
  summary:
    'make and administer a cloud, on the machine of a cell: hosts, organisations, users, quotas and more',
  examples: [
    'sudo skerry cloud host list',
    'sudo skerry cloud user list',
    'sudo skerry cloud quota set blue --vms 20',
  ],
  next: 'skerry cloud without a word tells its own commands',
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
