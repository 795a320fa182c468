import { join } from 'node:path'

import { command } from '../../command.ts'

const SERVER = join(import.meta.dirname, '../../../../workflow/src/main.ts')
const EGRESS = join(import.meta.dirname, '../../../../egress/src/main.ts')

/** The server parses its own options; here they are only documented and completed. */
export const workflowServer = command({
  name: 'workflow-server',
  asks: 'none',
  program: 'server',
  usage: '',
  summary: 'run a workflow server of a cloud, which stores, lists and runs workflows',
  examples: [
    'skerry workflow-server --config /etc/skerry/workflow.json',
    'skerry workflow-server --only worker',
  ],
  next: 'skerry admin workflow-server create writes its configuration, on the machine that has the CA keys',
  exits: '1 if it cannot start, 2 for an unknown option',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'configuration file written by skerry admin workflow-server create (default: /etc/skerry/workflow.json)',
    },
    only: {
      type: 'string',
      value: 'api|worker',
      doc: 'serve only the API, or only run workflows (default: both)',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [SERVER, ...words]),
})

export const workflowEgress = command({
  name: 'workflow-egress',
  asks: 'none',
  program: 'server',
  usage: 'FILE',
  summary:
    'run the egress proxy: call external servers for workflows, limited by an allow-list per organisation',
  examples: ['skerry workflow-egress /etc/skerry/egress.json'],
  next: 'change the allow-list in FILE, then send the process SIGHUP',
  exits: '1 if it cannot start, 2 for an invalid configuration',
  options: {},
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [EGRESS, ...words]),
})
