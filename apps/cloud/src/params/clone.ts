import { Fault } from '@skerry/fault'
import { UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, text } from '@skerry/xml'

import { readNamed } from './named.ts'
import type { RequestDocument } from './request-document.ts'

export interface Clone {
  readonly name: string
  /** The uuid at the end of the address of a vApp. */
  readonly source: string
}

const VAPP = new RegExp(`vapp-(${UUID})$`)

/** CloneVAppParams: a name, and the address of the source vApp, which is kept. */
export const cloneParams: RequestDocument<Clone> = {
  media: 'cloneVAppParams',
  shape: 'CloneVAppParams',
  example: ({ name = 'copy', vapp }) =>
    element('CloneVAppParams', { name }, element('Source', { href: vapp })),
  read(raw) {
    const { root, name } = readNamed(raw, 'CloneVAppParams')
    const source = VAPP.exec(attribute(childrenByLocalName(root, 'Source')[0], 'href') ?? '')?.[1]
    if (source === undefined) {
      throw new Fault('invalid', 'Source must have the href of a vApp', {
        hint: 'GET the vdc: its ResourceEntities list them',
      })
    }
    const moves = text(childrenByLocalName(root, 'IsSourceDelete')[0])?.trim() ?? 'false'
    if (moves !== 'false' && moves !== '0') {
      throw new Fault('invalid', 'IsSourceDelete must be false: the source is kept', {
        hint: 'delete the source after the copy is made',
      })
    }
    return { name, source }
  },
}
