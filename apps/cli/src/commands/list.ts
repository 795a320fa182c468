import { command } from '../command.ts'
import { renderTable } from '../table.ts'

export const list = command({
  name: 'list',
  usage: '',
  summary: 'all VMs with state, address and size',
  examples: [
    'skerry list',
    "skerry list --state 'powered on' --tag web",
    'skerry list --quiet',
    "skerry list --on work --filter 'name==web*'",
  ],
  next: 'skerry info VM tells all of one; skerry start VM turns it on',
  options: {
    state: { type: 'string', value: 'STATE', doc: 'only those that are so, such as "powered on"' },
    tag: { type: 'string', value: 'TAG', doc: 'only those with this tag' },
    filter: { type: 'string', value: 'FILTER', doc: 'of a cloud: as its queries read it' },
    all: { type: 'boolean', doc: 'of a cloud: of all organisations, for its administrators' },
    quiet: { type: 'boolean', doc: 'print nothing but ids, one per line' },
  },
  async run(world, { options: { quiet, ...asked }, json }) {
    const { verbs, print } = world
    const rows = await verbs.list(asked)
    if (json) return print(JSON.stringify(rows, null, 2))
    if (quiet === true) {
      for (const { id } of rows) print(id)
      return
    }
    print(renderTable(verbs.columns, rows, world.colours))
    if (rows.length === 0 && Object.keys(asked).length === 0) {
      world.complain('no VMs yet; make one: skerry create my-vm')
    }
  },
})
