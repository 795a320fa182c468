import { join } from 'node:path'

import { command } from '../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../vmd/src/main.ts')

export const vmd = command({
  name: 'vmd',
  usage: '[OPTIONS...]',
  summary: 'run the daemon here, as root; ends with Ctrl-C, and guests go on',
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
