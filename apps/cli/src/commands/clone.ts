import { command } from '../command.ts'
import { path } from '../local-client.ts'
import { doLongWork } from '../operation.ts'

export const clone = command({
  name: 'clone',
  usage: 'VM ID',
  summary: 'a new VM with the disk of another, which may go on running',
  examples: ['skerry clone web web-2', "skerry clone web web-2 --name 'Second web' --tag tests"],
  next: 'skerry start VM turns the clone on',
  options: {
    name: { type: 'string', doc: 'shown beside the id; the id unless told' },
    tag: { type: 'string', doc: 'any text, kept with the VM' },
  },
  async run(world, { words: [parentid = '', id = ''], options, json }) {
    const body = { id, parentid, ...options }
    const made = await doLongWork(world, `cloning ${parentid}`, 'POST', path('vms'), body)
    world.print(json ? JSON.stringify(made, null, 2) : `${id} is made from ${parentid}`)
  },
})
