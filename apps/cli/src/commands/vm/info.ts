import { command } from '../../command.ts'
import { renderDetails } from '../../terminal/details.ts'

/** Keys that the columns already show. */
const shown = new Set(['id', 'name', 'tag', 'state', 'address', 'cpus', 'memoryMiB', 'diskMiB'])

export const info = command({
  name: 'info',
  usage: 'VM',
  summary: 'show the details of a VM',
  examples: ['skerry info web'],
  next: 'skerry set VM changes its settings',
  async run({ verbs, print }, { words: [word = ''], json }) {
    const vm = await verbs.info(word)
    if (json) return print(JSON.stringify(vm, null, 2))
    const columns = verbs.columns.map(({ head, cell }) => [head.toLowerCase(), cell(vm)] as const)
    const heads = new Set(columns.map(([head]) => head))
    const others = Object.entries(vm)
      .filter(([key]) => !shown.has(key) && !heads.has(key))
      .map(([key, value]) => [key, value === null ? '' : String(value)] as const)
    return print(renderDetails([...columns, ...others]))
  },
})
