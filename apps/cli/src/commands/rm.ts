import { command } from '../command.ts'
import { showProgress } from '../progress.ts'
import { say } from '../say.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

export const rm = command({
  name: 'rm',
  usage: 'VM...',
  summary: 'delete VMs with their disks; clones keep theirs',
  examples: ['skerry rm web', 'skerry rm web db --force'],
  next: 'skerry list shows what is left',
  options: {
    force: { type: 'boolean', doc: 'pull the plug first where a VM is on' },
    ...waitOptions,
  },
  async run(world, { words, options, json }) {
    const wait = wantsWait(options)
    const all = []
    for (const vm of words) {
      const told = await showProgress(world, `deleting ${vm}`, async (tell) =>
        world.verbs.remove(vm, options.force === true, { wait, tell }),
      )
      if (!json) say(world, false, told)
      all.push({ vm, task: told.task })
    }
    if (!json) return
    const deleted = all.flatMap(({ vm, task }) => (task ? [] : [vm]))
    const tasks = all.flatMap(({ task }) => task ?? [])
    world.print(JSON.stringify({ deleted, ...(!wait && { tasks }) }, null, 2))
  },
})
