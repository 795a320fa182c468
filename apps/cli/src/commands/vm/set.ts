import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { sizeMiB, wholeNumber } from '../../terminal/number.ts'
import { yesOrNo } from '../../terminal/yes-or-no.ts'

export const set = command({
  name: 'set',
  usage: 'VM',
  summary: 'change a VM: size and network while it is off; name, tag and autostart at any time',
  examples: ['skerry set web --cpus 2 --memory 2G', 'skerry set web --tag tests --autostart yes'],
  next: 'skerry info VM shows the result',
  options: {
    name: { type: 'string', doc: 'display name' },
    tag: { type: 'string', doc: 'free text stored with the VM' },
    cpus: { type: 'string', value: 'N', doc: 'number of CPUs' },
    memory: { type: 'string', value: 'SIZE', doc: 'memory, e.g. 512M or 2G' },
    disk: { type: 'string', value: 'SIZE', doc: 'disk size, e.g. 10G; a disk can only grow' },
    autostart: {
      type: 'string',
      value: 'yes|no',
      doc: 'whether to start the VM when the machine boots',
    },
    bridge: {
      type: 'string',
      value: 'BRIDGE',
      doc: 'connect to this bridge of the machine; vmd must allow it',
    },
    nat: { type: 'boolean', doc: 'leave the bridge and use the NAT network' },
    ...waitOptions,
  },
  async run(context, { words: [id = ''], options, json }) {
    const { name, tag, bridge, nat } = options
    if (bridge !== undefined && nat === true) {
      throw new Failure('usage', 'give --bridge or --nat, not both')
    }
    const settings = {
      name,
      tag,
      autostart: yesOrNo('--autostart', options.autostart),
      bridge: nat === true ? null : bridge,
      cpus: wholeNumber('--cpus', options.cpus),
      memoryMiB: sizeMiB('--memory', options.memory),
      diskMiB: sizeMiB('--disk', options.disk),
    }
    if (Object.values(settings).every((each) => each === undefined)) {
      throw new Failure('usage', 'no change given', { hint: 'skerry set --help' })
    }
    const how = { label: `changing ${id}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => context.verbs.change(id, settings, doing))
  },
})
