import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command } from '../../command.ts'
import { printResult } from '../../help/print-result.ts'
import { showProgress } from '../../terminal/progress.ts'

export const rm = command({
  name: 'rm',
  usage: 'VM...',
  summary: 'delete VMs with their disks; clones are not affected',
  examples: ['skerry rm web', 'skerry rm web db --force'],
  next: 'skerry list lists the others',
  options: {
    force: { type: 'boolean', doc: 'power off running VMs first' },
    ...waitOptions,
  },
  async run(context, { words, options, json }) {
    const wait = wantsWait(options)
    const all = []
    for (const vm of words) {
      const result = await showProgress(context, `deleting ${vm}`, async (report) =>
        context.verbs.remove(vm, options.force === true, { wait, report }),
      )
      if (!json) printResult(context, false, result)
      all.push({ vm, task: result.task })
    }
    if (!json) return
    const deleted = all.flatMap(({ vm, task }) => (task ? [] : [vm]))
    const tasks = all.flatMap(({ task }) => task ?? [])
    context.print(JSON.stringify({ deleted, ...(!wait && { tasks }) }, null, 2))
  },
})
