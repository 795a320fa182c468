import { linkOf, vmIn } from '@skerry/cloud-client'
import { element } from '@skerry/xml'

import { UNNAMED } from './cloud-reading.ts'
import type { CloudSide } from './cloud-side.ts'
import { follow } from './cloud-task.ts'
import { after, findVm, notNow, type FoundVm } from './cloud-vm.ts'
import { Failure } from './failure.ts'
import type { Changing, SnapshotVerbs } from './verbs.ts'

/** A cloud keeps one snapshot of a VM; the next replaces it, and says so. */
export function cloudSnapshots(side: CloudSide): Pick<Changing, SnapshotVerbs> {
  const { cloud } = side
  return {
    async keep(word, { name, memory }, doing) {
      const vm = await findVm(side, word)
      const href = linkOf(vm.document, 'snapshot:create')
      if (href === undefined) throw notNow(side, vm, 'kept')
      const body = element('CreateSnapshotParams', { name, memory })
      const begun = await follow(side, await cloud.act('POST', href, { body }), doing)
      const details = begun?.ended?.details
      const more = details === undefined ? '' : `; ${details}`
      return after(side, vm, begun, `${word} is kept as ${name}${more}`)
    },
    async revert(word, name, doing) {
      const vm = await findVm(side, word)
      const href = requireSnapshot(side, vm, name, 'snapshot:revertToCurrent')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `${word} is as it was at ${name}`, true)
    },
    async forget(word, name, doing) {
      const vm = await findVm(side, word)
      const href = requireSnapshot(side, vm, name, 'snapshot:removeAll')
      const begun = await follow(side, await cloud.act('POST', href), doing)
      return after(side, vm, begun, `${name} is forgotten`)
    },
  }
}

function requireSnapshot(side: CloudSide, vm: FoundVm, name: string, rel: string): string {
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
