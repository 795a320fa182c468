import { renderTable } from '@skerry/command-line'

import { command } from '../../command.ts'

export const list = command({
  name: 'list',
  usage: '',
  summary: 'list VMs with state, address and size',
  examples: [
    'skerry list',
    "skerry list --state 'powered on' --tag web",
    'skerry list --quiet',
    "skerry list --on work --filter 'name==web*'",
  ],
  next: 'skerry info VM shows details; skerry start VM starts one',
  options: {
    state: { type: 'string', value: 'STATE', doc: 'only VMs in this state, e.g. "powered on"' },
    tag: { type: 'string', value: 'TAG', doc: 'only VMs with this tag' },
    filter: {
      type: 'string',
      value: 'FILTER',
      doc: 'cloud only: filter in the syntax of the query API',
    },
    all: {
      type: 'boolean',
      doc: 'cloud only: VMs of all organisations (cloud administrators only)',
    },
    quiet: { type: 'boolean', doc: 'print only ids, one per line' },
  },
  async run(context, { options: { quiet, ...requested }, json }) {
    const { verbs, print } = context
    const rows = await verbs.list(requested)
    if (json) return print(JSON.stringify(rows, null, 2))
    if (quiet === true) {
      for (const { id } of rows) print(id)
      return
    }
    print(renderTable(verbs.columns, rows, context.colours))
    if (rows.length === 0 && Object.keys(requested).length === 0) {
      context.complain('no VMs yet; create one: skerry create my-vm')
    }
  },
})
