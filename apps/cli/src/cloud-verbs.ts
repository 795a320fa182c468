import { linkOf, linkTo, vappIn, vmIn } from '@skerry/cloud-client'
import { element } from '@skerry/xml'

import { cloneInCloud, createInCloud } from './cloud-create.ts'
import { importIntoCloud } from './cloud-import.ts'
import { idIn, vmNamed } from './cloud-named.ts'
import { cloudReading, noTags } from './cloud-reading.ts'
import type { CloudSide } from './cloud-side.ts'
import { reconfigured } from './cloud-sizes.ts'
import { cloudSnapshots } from './cloud-snapshots.ts'
import { follow, underWay } from './cloud-task.ts'
import { after, findVm, notNow } from './cloud-vm.ts'
import { Failure } from './failure.ts'
import { stateWord } from './state-words.ts'
import type { Changing, Doing, PowerWord, SnapshotVerbs, Told, Verbs } from './verbs.ts'

/** The VMs of a cloud, as one of its users sees them. */
export const cloudVerbs = (side: CloudSide): Verbs => ({
  ...cloudReading(side),
  ...cloudChanging(side),
  ...cloudSnapshots(side),
})

/** By which link each is done, what the VM is then, and what was not possible. */
const powers = {
  on: { rel: 'power:powerOn', to: 'POWERED_ON', done: 'turned on' },
  off: { rel: 'power:powerOff', to: 'POWERED_OFF', done: 'turned off' },
  shutdown: { rel: 'power:shutdown', to: 'POWERED_OFF', done: 'shut down' },
  suspend: { rel: 'power:suspend', to: 'SUSPENDED', done: 'suspended' },
} as const

function cloudChanging(side: CloudSide): Omit<Changing, SnapshotVerbs> {
  const { cloud } = side
  const found = (word: string) => findVm(side, word)
  return {
    create: (wanted, doing) => createInCloud(side, wanted, doing),
    async clone(word, wanted, doing) {
      if (wanted.tag !== undefined) throw noTags('--tag')
      const { document } = await found(word)
      return cloneInCloud(side, vmIn(document), wanted, doing)
    },
    async change(word, { tag, autostart, bridge, name, ...sizes }, doing) {
      if (tag !== undefined) throw noTags('--tag')
      if (autostart !== undefined) throw hereOnly('--autostart', 'a cloud starts again what ran')
      if (bridge !== undefined) throw hereOnly('--bridge', 'its networks are the cloud’s affair')
      const vm = await found(word)
      const sized = await reconfigured(side, vm.document, sizes)
      let begun = await follow(side, sized, doing)
      if (name !== undefined) {
        const edit = linkTo(vm.document, 'edit')
        const renamed = await cloud.act('PUT', edit, { body: element('Vm', { name }) })
        begun = (await follow(side, renamed, doing)) ?? begun
      }
      return after(side, vm, begun, `${word} is changed`)
    },
    async power(word, asked, doing) {
      if (asked === 'pause' || asked === 'unpause') throw neverPauses(asked, word)
      const { rel, to, done } = powers[asked]
      const vm = await found(word)
      const href = linkOf(vm.document, rel)
      if (href === undefined) {
        const { status } = vmIn(vm.document)
        if (status === to) return after(side, vm, undefined, '')
        throw notNow(side, vm, done)
      }
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, '')
    },
    async startAnew(word, how, doing) {
      const vm = await found(word)
      const href = linkOf(vm.document, `power:${how}`)
      if (href === undefined) throw notNow(side, vm, 'started anew')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `${word} starts anew`)
    },
    remove: (word, force, doing) => remove(side, word, force, doing),
    importTemplate: (wanted, doing) => importIntoCloud(side, wanted, doing),
  }
}

const hereOnly = (option: string, why: string): Failure =>
  new Failure('refused', `${option} is for VMs of this machine: ${why}`, { hint: 'leave it out' })

const neverPauses = (asked: Extract<PowerWord, 'pause' | 'unpause'>, word: string): Failure =>
  new Failure('refused', `a cloud does not ${asked} VMs`, {
    hint:
      asked === 'pause'
        ? `skerry suspend ${word} keeps its memory on disk until it is started`
        : `skerry start ${word} lets it go on`,
  })

/** A vApp that would be left empty goes with its last VM: skerry create has made both. */
async function remove(side: CloudSide, word: string, force: boolean, doing: Doing): Promise<Told> {
  const { cloud } = side
  const { href } = await vmNamed(side, word)
  const first = await cloud.get(href)
  const off = linkOf(first, powers.off.rel)
  if (force && off !== undefined) await follow(side, await cloud.act('POST', off), doing)
  const document = await cloud.get(href)
  const vapp = await cloud.get(`/api/vApp/${vmIn(document).vapp}`)
  const whole = vappIn(vapp).vms.length === 1 ? vapp : document
  const gone = linkOf(whole, 'remove')
  if (gone === undefined) {
    const { name, status } = vmIn(document)
    const isOn = status === 'POWERED_ON'
    throw new Failure('refused', `${name} is ${stateWord(status)}, and cannot be deleted now`, {
      hint: isOn
        ? `skerry stop ${word}, or skerry rm ${word} --force`
        : `skerry task list: something may be under way; or ${side.profile.user} lacks the right`,
    })
  }
  const begun = await follow(side, await cloud.act('DELETE', gone), doing)
  if (begun && !begun.ended) return underWay(word, begun.id)
  return { text: `${word} is deleted`, body: { deleted: idIn(href) } }
}
