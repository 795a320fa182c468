import { command } from '../command.ts'
import { renderTable } from '../table.ts'
import { readVms, vmColumns } from '../vm-row.ts'

export const list = command({
  name: 'list',
  usage: '',
  summary: 'all VMs with state, address and size',
  examples: ['skerry list', "skerry list --state 'powered on' --tag web", 'skerry list --quiet'],
  next: 'skerry info VM tells all of one; skerry start VM turns it on',
  options: {
    state: { type: 'string', value: 'STATE', doc: 'only those that are so, such as "powered on"' },
    tag: { type: 'string', value: 'TAG', doc: 'only those with this tag' },
    quiet: { type: 'boolean', doc: 'print nothing but ids, one per line' },
  },
  async run(world, { options: { state, tag, quiet }, json }) {
    const rows = await readVms(world, {
      ...(state !== undefined && { state }),
      ...(tag !== undefined && { tag }),
    })
    if (json) return world.print(JSON.stringify(rows, null, 2))
    if (quiet === true) {
      for (const { id } of rows) world.print(id)
      return
    }
    world.print(renderTable(vmColumns, rows, world.colours))
    if (rows.length === 0) world.complain('no VMs yet; make one: skerry create my-vm')
  },
})
