import { join } from 'node:path'

import { command } from '../command.ts'

const SERVER = join(import.meta.dirname, '../../../workflow/src/main.ts')
const EGRESS = join(import.meta.dirname, '../../../egress/src/main.ts')

/** Its options are read by the server itself; here they are told and completed. */
export const workflowServer = command({
  name: 'workflow-server',
  asks: 'nobody',
  usage: '',
  summary: 'run a workflow server of a cloud here: it lists, exports, imports and runs workflows',
  examples: [
    'skerry workflow-server --config /etc/skerry/workflow.json',
    'skerry workflow-server --only worker',
  ],
  next: 'skerry cloud workflow makes its configuration, on the machine that has the issuers',
  exits: '1 when it cannot start, 2 for an option that it does not know',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      doc: 'what skerry cloud workflow wrote; /etc/skerry/workflow.json unless told',
    },
    only: {
      type: 'string',
      value: 'api|worker',
      doc: 'only answers requests, or only runs workflows; both unless told',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [SERVER, ...words]),
})

export const workflowEgress = command({
  name: 'workflow-egress',
  asks: 'nobody',
  usage: 'FILE',
  summary:
    'call other people’s servers for workflows, as far as a list for each organisation allows',
  examples: ['skerry workflow-egress /etc/skerry/egress.json'],
  next: 'change the list in FILE, then send the process SIGHUP',
  exits: '1 when it cannot start',
  options: {},
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [EGRESS, ...words]),
})
