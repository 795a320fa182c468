import { Fault } from '@skerry/fault'
import { element, localName, readXml } from '@skerry/xml'

import { nameIn } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** The document of a vApp or VM, as it was read: only its name is used, the rest is ignored. */
export const renameParams: RequestDocument<{ readonly name: string }> = {
  media: 'vApp',
  shape: 'VApp or Vm',
  example: ({ name = 'web-2' }) => element('Vm', { name }),
  read(raw) {
    const root = readXml(raw)
    if (localName(root.name) !== 'VApp' && localName(root.name) !== 'Vm') {
      throw new Fault('invalid', 'the body must be VApp or Vm')
    }
    return { name: nameIn(root) }
  },
}
