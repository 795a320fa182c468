import { Fault } from '@skerry/fault'
import { UUID, type Seed } from '@skerry/vm'
import { attribute, childrenByLocalName, element, localName, readXml } from '@skerry/xml'

import type { NamedNic } from '../inventory/nics.ts'
import { networkNamesIn, nicsIn } from './connections.ts'
import { guestIn } from './guest.ts'
import type { RequestDocument } from './request-document.ts'

export interface Instantiate {
  readonly name: string
  readonly guest?: Seed
  /** Its cards. Default: one on the default network of the vdc, if there is one. */
  readonly nics?: readonly NamedNic[]
  readonly power: boolean
  /** The uuid at the end of the template's address. */
  readonly template: string
}

const TEMPLATE = new RegExp(`vappTemplate-(${UUID})$`)
const NAME_MAX = 128

/** InstantiateVAppTemplateParams: a name, whether to start it, and the address of a template. */
export const instantiateParams: RequestDocument<Instantiate> = {
  media: 'instantiateVAppTemplateParams',
  shape: 'InstantiateVAppTemplateParams',
  example: ({ name = 'shop', template }) => {
    const guest = [element('ComputerName', {}, 'shop'), element('UserData', {}, '#cloud-config')]
    return element(
      'InstantiateVAppTemplateParams',
      { name, powerOn: true },
      element('Source', { href: template }),
      element('GuestCustomizationSection', {}, ...guest),
    )
  },
  read(raw) {
    const root = readXml(raw)
    if (localName(root.name) !== 'InstantiateVAppTemplateParams') {
      throw new Fault('invalid', 'the body must be InstantiateVAppTemplateParams')
    }
    const name = attribute(root, 'name') ?? ''
    if (name.length < 1 || name.length > NAME_MAX) {
      throw new Fault('invalid', `name must have 1 to ${NAME_MAX} characters`)
    }
    const [source] = childrenByLocalName(root, 'Source')
    const template = TEMPLATE.exec((source && attribute(source, 'href')) ?? '')?.[1]
    if (template === undefined) {
      throw new Fault('invalid', 'Source must have the href of a template', {
        hint: 'GET the vdc: its ResourceEntities list them',
      })
    }
    const guest = guestIn(root)
    const power = attribute(root, 'powerOn') !== 'false'
    // Some clients describe the VM of the template in a SourcedItem, as in ComposeVAppParams.
    const parts = [...childrenByLocalName(root, 'SourcedItem'), root]
    const nics = nicsIn(parts, networkNamesIn(root))
    return { name, template, power, ...(guest && { guest }), ...nics }
  },
}
