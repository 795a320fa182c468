import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'

export const clone = command({
  name: 'clone',
  usage: 'VM ID',
  summary:
    'create a VM with a copy of the disk of another VM, which may be running; in a cloud it must be off',
  examples: ['skerry clone web web-2', "skerry clone web web-2 --name 'Second web' --tag tests"],
  next: 'skerry start VM starts the clone',
  options: {
    name: { type: 'string', doc: 'display name (default: the id)' },
    tag: { type: 'string', doc: 'free text stored with the VM' },
    ...waitOptions,
  },
  async run(context, { words: [vm = '', id = ''], options, json }) {
    const { name, tag } = options
    const how = { label: `cloning ${vm}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => context.verbs.clone(vm, { id, name, tag }, doing))
  },
})
