import { join } from 'node:path'

import { command } from '../../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../../console/src/main.ts')

/** The server parses its own options; here they are only documented and completed. */
export const consoleServer = command({
  name: 'console-server',
  asks: 'none',
  program: 'server',
  usage: '',
  summary:
    'run a console server of a cloud: show VM screens in the browser to clients with a ticket',
  examples: ['skerry console-server --config /etc/skerry/console.json'],
  next: 'several console servers can share one address: skerry admin console-server create makes another',
  exits: '1 if it cannot start, 2 for an unknown option',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'configuration file written by skerry admin console-server create (default: /etc/skerry/console.json)',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
