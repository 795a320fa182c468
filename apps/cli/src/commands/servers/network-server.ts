import { join } from 'node:path'

import { command } from '../../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../../network/src/main.ts')

/** The server parses its own options; here they are only documented and completed. */
export const networkServer = command({
  name: 'network-server',
  asks: 'none',
  program: 'server',
  usage: '',
  summary:
    'run a network server of a cloud, which keeps OVN current; guests do not notice when it stops',
  examples: ['skerry network-server --config /etc/skerry/network.json'],
  next: 'several network servers can share one zone: one of them holds it, and another takes over when it ends',
  exits: '1 if it cannot start, 2 for an unknown option',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'configuration file written by skerry admin network-server create (default: /etc/skerry/network.json)',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
