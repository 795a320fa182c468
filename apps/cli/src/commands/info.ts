import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { printable } from '../table.ts'
import { readVms, vmColumns } from '../vm-row.ts'

export const info = command({
  name: 'info',
  usage: 'VM',
  summary: 'all there is to know of one VM',
  examples: ['skerry info web'],
  next: 'skerry set VM changes what is shown',
  async run(world, { words: [id = ''], json }) {
    const [vm] = (await readVms(world, { id })).filter((each) => each.id === id)
    if (vm === undefined) {
      throw new Failure('refused', `there is no VM ${id}`, { hint: 'skerry list shows all VMs' })
    }
    if (json) return world.print(JSON.stringify(vm, null, 2))
    const known = new Set(['id', 'name', 'tag', 'state', 'address', 'cpus', 'memoryMiB', 'diskMiB'])
    const rows = [
      ...vmColumns.map(({ head, cell }) => [head.toLowerCase(), cell(vm)] as const),
      ...Object.entries(vm)
        .filter(([key]) => !known.has(key))
        .map(([key, value]) => [key, value === null ? '' : String(value)] as const),
    ]
    const wide = Math.max(...rows.map(([key]) => key.length))
    for (const [key, value] of rows) {
      world.print(`${key.padEnd(wide)}  ${printable(value) || '-'}`)
    }
  },
})
