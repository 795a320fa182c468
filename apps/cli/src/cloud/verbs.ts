import { linkOf, linkTo, vappIn, vmIn } from '@skerry/cloud-client'
import { element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import { stateWord } from '../vms/state-words.ts'
import type {
  VmChanger,
  ChangeOptions,
  PowerWord,
  SnapshotVerbs,
  CommandResult,
  VmBackend,
} from '../vms/vm-backend.ts'
import { cloneInCloud, createInCloud } from './create.ts'
import { importIntoCloud } from './import.ts'
import { idIn, vmNamed } from './named.ts'
import { cloudReading, noTags } from './reading.ts'
import { reconfigured } from './sizes.ts'
import { cloudSnapshots } from './snapshots.ts'
import { follow, underWay } from './task.ts'
import { after, findVm, notNow } from './vm.ts'

/** Operations on the VMs of a cloud, as one of its users. */
export const cloudVerbs = (side: CloudSession): VmBackend => ({
  ...cloudReading(side),
  ...cloudChanging(side),
  ...cloudSnapshots(side),
})

/** For each power operation: its link, the resulting status, and the participle for messages. */
const powers = {
  on: { rel: 'power:powerOn', to: 'POWERED_ON', done: 'turned on' },
  off: { rel: 'power:powerOff', to: 'POWERED_OFF', done: 'turned off' },
  shutdown: { rel: 'power:shutdown', to: 'POWERED_OFF', done: 'shut down' },
  suspend: { rel: 'power:suspend', to: 'SUSPENDED', done: 'suspended' },
} as const

function cloudChanging(side: CloudSession): Omit<VmChanger, SnapshotVerbs> {
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
      if (autostart !== undefined)
        throw hereOnly('--autostart', 'a cloud restarts VMs that were running')
      if (bridge !== undefined) throw hereOnly('--bridge', 'a cloud manages its own networks')
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
    async power(word, requested, doing) {
      if (requested === 'pause' || requested === 'unpause') throw neverPauses(requested, word)
      const { rel, to, done } = powers[requested]
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
    async restart(word, how, doing) {
      const vm = await found(word)
      const href = linkOf(vm.document, `power:${how}`)
      if (href === undefined) throw notNow(side, vm, 'restarted')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `${word} is restarting`)
    },
    remove: (word, force, doing) => remove(side, word, force, doing),
    importTemplate: (wanted, doing) => importIntoCloud(side, wanted, doing),
  }
}

const hereOnly = (option: string, why: string): Failure =>
  new Failure('refused', `${option} is for VMs of this machine: ${why}`, {
    hint: 'omit the option',
  })

const neverPauses = (requested: Extract<PowerWord, 'pause' | 'unpause'>, word: string): Failure =>
  new Failure('refused', `a cloud does not ${requested} VMs`, {
    hint:
      requested === 'pause'
        ? `skerry suspend ${word} saves its memory to disk until the next start`
        : `skerry start ${word} resumes it`,
  })

/** Deletes a VM. An empty vApp is deleted with its last VM, because skerry create creates both. */
async function remove(
  side: CloudSession,
  word: string,
  force: boolean,
  doing: ChangeOptions,
): Promise<CommandResult> {
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
        : `a task may be running (skerry task list), or ${side.profile.user} lacks the right`,
    })
  }
  const begun = await follow(side, await cloud.act('DELETE', gone), doing)
  if (begun && !begun.ended) return underWay(word, begun.id)
  return { text: `${word} is deleted`, body: { deleted: idIn(href) } }
}
