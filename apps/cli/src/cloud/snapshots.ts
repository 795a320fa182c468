import { linkOf, vmIn } from '@skerry/cloud-client'
import { element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import type { VmChanger, SnapshotVerbs } from '../vms/vm-backend.ts'
import { UNNAMED } from './reading.ts'
import { follow } from './task.ts'
import { after, findVm, notNow, type CloudVm } from './vm.ts'

/** A cloud keeps one snapshot per VM; the next one replaces it, which the details of its task report. */
export function cloudSnapshots(side: CloudSession): Pick<VmChanger, SnapshotVerbs> {
  const { cloud } = side
  return {
    async keep(word, { name, memory }, doing) {
      const vm = await findVm(side, word)
      const href = linkOf(vm.document, 'snapshot:create')
      if (href === undefined) throw notNow(side, vm, 'snapshotted')
      const body = element('CreateSnapshotParams', { name, memory })
      const begun = await follow(side, await cloud.act('POST', href, { body }), doing)
      const details = begun?.ended?.details
      const more = details === undefined ? '' : `; ${details}`
      return after(side, vm, begun, `snapshot ${name} of ${word} is taken${more}`)
    },
    async revert(word, name, doing) {
      const vm = await findVm(side, word)
      const href = requireSnapshot(side, vm, name, 'snapshot:revertToCurrent')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `${word} is reverted to ${name}`, true)
    },
    async forget(word, name, doing) {
      const vm = await findVm(side, word)
      const href = requireSnapshot(side, vm, name, 'snapshot:removeAll')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `snapshot ${name} is deleted`)
    },
  }
}

function requireSnapshot(side: CloudSession, vm: CloudVm, name: string, rel: string): string {
  const { snapshot } = vmIn(vm.document)
  if (!snapshot || (snapshot.name ?? UNNAMED) !== name) {
    const there = snapshot ? `it has ${snapshot.name ?? UNNAMED}` : 'it has none'
    throw new Failure('refused', `${vm.word} has no snapshot ${name}: ${there}`, {
      hint: `skerry snapshot list ${vm.word}`,
    })
  }
  const href = linkOf(vm.document, rel)
  if (href !== undefined) return href
  throw notNow(side, vm, 'changed')
}
