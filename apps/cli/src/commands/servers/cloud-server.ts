import { join } from 'node:path'

import { command } from '../../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../../cloud/src/main.ts')

/** The server parses its own options; here they are only documented and completed. */
export const cloudServer = command({
  name: 'cloud-server',
  asks: 'none',
  program: 'server',
  usage: '',
  summary:
    'run a cell of a cloud, which serves its API and controls its hosts; Ctrl-C stops it and guests keep running',
  examples: ['skerry cloud-server --config /etc/skerry/cloud.json'],
  next: 'skerry admin host invite prints the command that joins a machine as a host',
  exits: '1 if it cannot start, 2 for an unknown option',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'configuration file written by skerry admin init or skerry admin cell create (default: /etc/skerry/cloud.json)',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
