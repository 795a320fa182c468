import { command } from '../command.ts'
import { doAndSay } from '../say.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

export const clone = command({
  name: 'clone',
  usage: 'VM ID',
  summary: 'a new VM with the disk of another, which may go on running; in a cloud it must be off',
  examples: ['skerry clone web web-2', "skerry clone web web-2 --name 'Second web' --tag tests"],
  next: 'skerry start VM turns the clone on',
  options: {
    name: { type: 'string', doc: 'shown beside the id; the id unless told' },
    tag: { type: 'string', doc: 'any text, kept with the VM' },
    ...waitOptions,
  },
  async run(world, { words: [vm = '', id = ''], options, json }) {
    const { name, tag } = options
    const how = { label: `cloning ${vm}`, wait: wantsWait(options), json }
    await doAndSay(world, how, (doing) => world.verbs.clone(vm, { id, name, tag }, doing))
  },
})
