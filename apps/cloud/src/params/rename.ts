import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { localName, readXml } from '@skerry/xml'

import { nameIn } from './named.ts'

/** The document of a vApp or VM, as it was read: only its name is used, the rest is ignored. */
export const renameParams: Body<{ readonly name: string }> = {
  media: 'vApp',
  shape: 'VApp or Vm',
  read(raw) {
    const root = readXml(raw)
    if (localName(root.name) !== 'VApp' && localName(root.name) !== 'Vm') {
      throw new Fault('invalid', 'the body must be VApp or Vm')
    }
    return { name: nameIn(root) }
  },
}
