import { readFile } from 'node:fs/promises'

import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { sizeMiB, wholeNumber } from '../number.ts'
import { doAndSay } from '../say.ts'
import { waitOptions, wantsWait } from '../waiting.ts'

export const create = command({
  name: 'create',
  usage: 'ID',
  summary: 'a new VM from a template; it is off until it is started',
  examples: [
    'skerry create web --ssh-key ~/.ssh/id_ed25519.pub --start',
    'skerry create db --cpus 2 --memory 2G --disk 20G --tag tests --autostart',
    'skerry create ci --cloud-init user-data.yaml --start',
    'skerry create web --on work --template debian --vdc main --start',
  ],
  next: 'skerry start VM, where --start was left out; then skerry ssh VM',
  options: {
    name: { type: 'string', doc: 'shown beside the id; the id unless told' },
    tag: { type: 'string', doc: 'any text, kept with the VM' },
    template: { type: 'string', value: 'TEMPLATE', doc: 'which template; default unless told' },
    cpus: { type: 'string', value: 'N', doc: 'processors' },
    memory: { type: 'string', value: 'SIZE', doc: 'such as 512M or 2G' },
    disk: { type: 'string', value: 'SIZE', doc: 'such as 10G; the template’s unless told' },
    autostart: { type: 'boolean', doc: 'start it with the machine' },
    bridge: {
      type: 'string',
      value: 'BRIDGE',
      doc: 'join this bridge of the machine, which vmd must allow, instead of the network for guests',
    },
    'ssh-key': {
      type: 'string',
      value: 'FILE',
      multiple: true,
      doc: 'a public key that may log in; may be given several times',
    },
    'cloud-init': {
      type: 'string',
      value: 'FILE',
      doc: 'a user-data document for the first start',
    },
    vdc: { type: 'string', value: 'VDC', doc: 'of a cloud: in which data centre' },
    start: { type: 'boolean', doc: 'start it at once' },
    ...waitOptions,
  },
  async run(world, { words: [id = ''], options, json }) {
    const { name, tag, template, autostart, bridge, vdc, start = false } = options
    const settings = {
      cpus: wholeNumber('--cpus', options.cpus),
      memoryMiB: sizeMiB('--memory', options.memory),
      diskMiB: sizeMiB('--disk', options.disk),
      sshKeys: await readKeys(options['ssh-key']),
      userData: await readText(options['cloud-init']),
    }
    const wanted = { id, name, tag, template, autostart, bridge, vdc, start, ...settings }
    const how = { label: `creating ${id}`, wait: wantsWait(options), json }
    await doAndSay(world, how, (doing) => world.verbs.create(wanted, doing))
  },
})

async function readKeys(files: readonly string[] | undefined) {
  if (files === undefined) return undefined
  const texts = await Promise.all(files.map(readText))
  return texts.flatMap((text) => (text ?? '').split('\n').filter((line) => line.trim() !== ''))
}

async function readText(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new Failure('usage', `${file} cannot be read`, {
      cause,
      hint: 'give the path of a file that is there and that you may read',
    })
  }
}
