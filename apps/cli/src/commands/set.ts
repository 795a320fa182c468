import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { sizeMiB, wholeNumber } from '../number.ts'
import { doAndSay } from '../say.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

export const set = command({
  name: 'set',
  usage: 'VM',
  summary:
    'change a VM: its size and network while it is off, its name, tag and autostart at any time',
  examples: ['skerry set web --cpus 2 --memory 2G', 'skerry set web --tag tests --autostart yes'],
  next: 'skerry info VM shows what it is now',
  options: {
    name: { type: 'string', doc: 'shown beside the id' },
    tag: { type: 'string', doc: 'any text, kept with the VM' },
    cpus: { type: 'string', value: 'N', doc: 'processors' },
    memory: { type: 'string', value: 'SIZE', doc: 'such as 512M or 2G' },
    disk: { type: 'string', value: 'SIZE', doc: 'such as 10G; a disk only grows' },
    autostart: { type: 'string', value: 'yes|no', doc: 'whether it starts with the machine' },
    bridge: {
      type: 'string',
      value: 'BRIDGE',
      doc: 'join this bridge of the machine, which vmd must allow',
    },
    nat: { type: 'boolean', doc: 'leave the bridge for the network for guests' },
    ...waitOptions,
  },
  async run(world, { words: [id = ''], options, json }) {
    const { name, tag, bridge, nat } = options
    if (bridge !== undefined && nat === true) {
      throw new Failure('usage', 'give --bridge or --nat, not both')
    }
    const settings = {
      ...{ name, tag, autostart: yesOrNo(options.autostart) },
      bridge: nat === true ? null : bridge,
      cpus: wholeNumber('--cpus', options.cpus),
      memoryMiB: sizeMiB('--memory', options.memory),
      diskMiB: sizeMiB('--disk', options.disk),
    }
    if (Object.values(settings).every((each) => each === undefined)) {
      throw new Failure('usage', 'nothing to change is given', { hint: 'skerry set --help' })
    }
    const how = { label: `changing ${id}`, wait: wantsWait(options), json }
    await doAndSay(world, how, (doing) => world.verbs.change(id, settings, doing))
  },
})

function yesOrNo(text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'yes' || text === 'no') {
    return text === undefined ? undefined : text === 'yes'
  }
  throw new Failure('usage', `--autostart must be yes or no, not ${text}`)
}
