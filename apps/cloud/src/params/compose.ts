import { Fault } from '@skerry/fault'
import { UUID, type Seed } from '@skerry/vm'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import type { NamedNic } from '../inventory/nics.ts'
import { networkNamesIn, nicsIn } from './connections.ts'
import { guestIn } from './guest.ts'
import { nameIn, readNamed, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** A VM to create: its template, and its name if one is given. */
export interface SourcedItem {
  readonly template: string
  readonly name?: string
  readonly guest?: Seed
  readonly nics?: readonly NamedNic[]
}

/** A template, or the VM in it. */
const TEMPLATE = new RegExp(`(?:vappTemplate-|vAppTemplate/vm-)(${UUID})$`)
const VM = new RegExp(`vm-(${UUID})$`)
const ITEMS_MAX = 128

function itemsIn(root: Element): readonly SourcedItem[] {
  const items = childrenByLocalName(root, 'SourcedItem')
  const named = networkNamesIn(root)
  if (items.length > ITEMS_MAX) {
    throw new Fault('invalid', `at most ${ITEMS_MAX} VMs can be created at once`)
  }
  return items.map((item) => {
    const [source] = childrenByLocalName(item, 'Source')
    const template = TEMPLATE.exec(attribute(source, 'href') ?? '')?.[1]
    if (!source || template === undefined) {
      throw new Fault(
        'invalid',
        'the Source of each SourcedItem must have the href of a template',
        {
          hint: 'GET the vdc: its ResourceEntities list them',
        },
      )
    }
    const guest = guestIn(item)
    return {
      template,
      ...(guest && { guest }),
      ...nicsIn([item], named),
      ...(attribute(source, 'name') !== undefined && { name: nameIn(source) }),
    }
  })
}

const sourced = (name: string, href: string): Element =>
  element('SourcedItem', {}, element('Source', { href, name }))

export interface Compose {
  readonly name: string
  readonly power: boolean
  readonly items: readonly SourcedItem[]
}

/** ComposeVAppParams: a name, and any number of templates. */
export const composeParams: RequestDocument<Compose> = {
  media: 'composeVAppParams',
  shape: 'ComposeVAppParams',
  example: ({ name = 'site', template }) =>
    element('ComposeVAppParams', { name }, sourced('web', template), sourced('db', template)),
  read(raw) {
    const { root, name } = readNamed(raw, 'ComposeVAppParams')
    // Default: off, unlike instantiate, because a composed vApp is usually completed before it is started.
    return { name, items: itemsIn(root), power: attribute(root, 'powerOn') === 'true' }
  },
}

export interface Recompose {
  readonly items: readonly SourcedItem[]
  /** Ids of VMs of this vApp. */
  readonly gone: readonly string[]
}

export const recomposeParams: RequestDocument<Recompose> = {
  media: 'recomposeVAppParams',
  shape: 'RecomposeVAppParams',
  example: ({ name = 'cache', template }) =>
    element('RecomposeVAppParams', {}, sourced(name, template)),
  read(raw) {
    const root = readRoot(raw, 'RecomposeVAppParams')
    const gone = childrenByLocalName(root, 'DeleteItem').map((item) => {
      const vm = VM.exec(attribute(item, 'href') ?? '')?.[1]
      if (vm === undefined) throw new Fault('invalid', 'DeleteItem must have the href of a VM')
      return vm
    })
    return { items: itemsIn(root), gone }
  },
}
