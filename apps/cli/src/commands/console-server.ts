import { join } from 'node:path'

import { command } from '../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../console/src/main.ts')

/** Its options are read by the server itself; here they are told and completed. */
export const consoleServer = command({
  name: 'console-server',
  asks: 'nobody',
  usage: '',
  summary: 'run a console of a cloud here: it shows screens in browsers to whoever has a ticket',
  examples: ['skerry console-server --config /etc/skerry/console.json'],
  next: 'several of them stand behind one address: skerry cloud console makes one more',
  exits: '1 when it cannot start, 2 for an option that it does not know',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'what skerry cloud console wrote; /etc/skerry/console.json unless told',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
