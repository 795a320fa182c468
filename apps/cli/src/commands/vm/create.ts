import { readFile } from 'node:fs/promises'

import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { sizeMiB, wholeNumber } from '../../terminal/number.ts'

export const create = command({
  name: 'create',
  usage: 'ID',
  summary: 'create a VM from a template; it stays off without --start',
  examples: [
    'skerry create web --ssh-key ~/.ssh/id_ed25519.pub --start',
    'skerry create db --cpus 2 --memory 2G --disk 20G --tag tests --autostart',
    'skerry create ci --cloud-init user-data.yaml --start',
    'skerry create web --on work --template debian --vdc main --start',
    'skerry create db --on work --network backend --start',
  ],
  next: 'skerry start VM if --start was not given; then skerry ssh VM',
  options: {
    name: { type: 'string', doc: 'display name (default: the id)' },
    tag: { type: 'string', doc: 'free text stored with the VM' },
    template: {
      type: 'string',
      value: 'TEMPLATE',
      doc: 'template to use (default: the one named default)',
    },
    cpus: { type: 'string', value: 'N', doc: 'number of CPUs' },
    memory: { type: 'string', value: 'SIZE', doc: 'memory, e.g. 512M or 2G' },
    disk: {
      type: 'string',
      value: 'SIZE',
      doc: 'disk size, e.g. 10G (default: that of the template)',
    },
    autostart: { type: 'boolean', doc: 'start the VM when the machine boots' },
    bridge: {
      type: 'string',
      value: 'BRIDGE',
      doc: 'connect to this bridge of the machine instead of the NAT network; vmd must allow it',
    },
    'ssh-key': {
      type: 'string',
      value: 'FILE',
      multiple: true,
      doc: 'public SSH key to authorise; repeatable',
    },
    'cloud-init': {
      type: 'string',
      value: 'FILE',
      doc: 'cloud-init user-data for the first boot',
    },
    vdc: { type: 'string', value: 'VDC', doc: 'cloud only: data centre of the VM' },
    network: {
      type: 'string',
      value: 'NETWORK',
      multiple: true,
      doc: 'cloud only: network of the VM (default: the one named default); repeatable',
    },
    start: { type: 'boolean', doc: 'start the VM after creating it' },
    ...waitOptions,
  },
  async run(context, { words: [id = ''], options, json }) {
    const { name, tag, template, autostart, bridge, vdc, network, start = false } = options
    const settings = {
      cpus: wholeNumber('--cpus', options.cpus),
      memoryMiB: sizeMiB('--memory', options.memory),
      diskMiB: sizeMiB('--disk', options.disk),
      sshKeys: await readKeys(options['ssh-key']),
      userData: await readText(options['cloud-init']),
      networks: network,
    }
    const wanted = { id, name, tag, template, autostart, bridge, vdc, start, ...settings }
    const how = { label: `creating ${id}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) => context.verbs.create(wanted, doing))
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
      hint: 'give the path of an existing, readable file',
    })
  }
}
