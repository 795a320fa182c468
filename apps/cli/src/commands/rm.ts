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
    for (const vm of words) {
      const told = await showProgress(world, `deleting ${vm}`, async (tell) =>
        world.verbs.remove(vm, options.force === true, { wait, tell }),
      )
      if (!json) say(world, false, told)
    }
    if (json) world.print(JSON.stringify({ deleted: words }, null, 2))
  },
})
