import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { isIn } from '../dialect/version.ts'
import { may, type OwnedResource } from '../domain/authorize.ts'
import type { Permission } from '../domain/roles.ts'
import { sharesOn } from '../domain/shares.ts'
import { decideFor, hasScreen } from '../domain/vm-status.ts'
import type { VmRow } from '../inventory/vms.ts'
import { vappOperations, type VappOperation } from '../operations/vapp-operations.ts'
import { operations } from '../operations/vm-operations.ts'
import { NOT_SHARED_ON } from '../sharing/access-lists.ts'
import type { Action, Operation } from '../tasks/operation.ts'
import { link } from './links.ts'

type OfferViewer = Pick<Caller, 'principal' | 'version' | 'dialect' | 'explains'>

/** Why an action is not offered: a right is missing, it needs another state, it would change nothing, or the resource is being deleted. */
interface ActionRefusal {
  readonly code: 'right' | 'state' | 'nothing' | 'closed'
  readonly because: string
}

/** An action of a document: its links, or why it has none. */
export interface ActionOffer {
  readonly rel: string
  /** The media type of the document that it takes. */
  readonly type?: string | undefined
  readonly links: readonly Element[]
  readonly refusal: ActionRefusal | undefined
}

export const linksOf = (offers: readonly ActionOffer[]): Element[] =>
  offers.flatMap(({ links, refusal }) => (refusal ? [] : links))

/** The actions without a link, for callers that ask for them. */
export const unavailableOf = (
  offers: readonly ActionOffer[],
  { explains = false, version }: OfferViewer,
): Element[] =>
  explains && isIn(version, '5.1')
    ? offers.flatMap(({ rel, type, refusal }) =>
        refusal ? [element('Unavailable', { rel, type, ...refusal })] : [],
      )
    : []

const CLOSED: ActionRefusal = { code: 'closed', because: 'it is being deleted' }

const rightRefusal = (
  { principal }: OfferViewer,
  permission: Permission,
  target?: OwnedResource,
): ActionRefusal | undefined =>
  may(principal, permission, target)
    ? undefined
    : { code: 'right', because: `the role ${principal.role} lacks the right ${permission}` }

const lostReasons = {
  LOST: 'it was lost with its host; it can only be deleted',
  MISSING: 'it is missing since a restore; it can only be deleted',
} as const

/** The same decision as at submission, with its reason. */
function stateRefusal(vm: VmRow, operation: Operation): ActionRefusal | undefined {
  const { projected_status: status, queue_target: target, lost_reason: lost } = vm
  if (vm.closed) return CLOSED
  const decision = decideFor(vm, status, operation)
  const is = target === null ? `it is ${status}` : `after its queued tasks it is ${status}`
  if (decision === 'nothing') return { code: 'nothing', because: is }
  if (decision === 'refuse') {
    const needs = `${is}; this needs it ${operation.from.join(' or ')}`
    return { code: 'state', because: lost === null ? needs : lostReasons[lost] }
  }
  const { offered } = operation
  return offered && !offered.when(vm) ? { code: 'nothing', because: offered.otherwise } : undefined
}

function actionLinks(
  { rel, path, document, also }: Action,
  href: string,
  { dialect }: OfferViewer,
) {
  const type = (name: string) => ({ type: dialect.media(name) })
  return [
    link(rel, `${href}/${path}`, document === undefined ? {} : type(document)),
    ...(also ? [link(also.rel, `${href}/action/${also.rel}`, type(also.document))] : []),
  ]
}

const relOf = ({ kind, action }: Pick<Operation, 'kind' | 'action'>): string | undefined =>
  action?.rel ?? (kind === 'delete' ? 'remove' : undefined)

/** The actions of a VM by right and status, from the same table as the routes. */
export function vmOffers(vm: VmRow, href: string, sees: OfferViewer): ActionOffer[] {
  const listed = operations.filter(({ since }) => isIn(sees.version, since))
  const offers = listed.flatMap((operation): ActionOffer[] => {
    const { action, permission } = operation
    const rel = relOf(operation)
    if (rel === undefined) return []
    const links = action ? actionLinks(action, href, sees) : [link(rel, href)]
    const refusal = rightRefusal(sees, permission, vm) ?? stateRefusal(vm, operation)
    return [{ rel, links, refusal }]
  })
  // Operations with the same relation are one action: the VM is offered one of them, or none.
  return [...Map.groupBy(offers, ({ rel }) => rel).values()].flatMap(
    (same) => same.find(({ refusal }) => !refusal) ?? same.slice(0, 1),
  )
}

export function vappOffers(
  { closed, vms }: { readonly closed: boolean; readonly vms: readonly VmRow[] },
  href: string,
  sees: OfferViewer,
): ActionOffer[] {
  const listed = vappOperations.filter(({ since }) => isIn(sees.version, since))
  return listed.map((whole) => {
    const { action, permission } = whole
    const refusal = rightRefusal(sees, permission) ?? (closed ? CLOSED : refusalOfAll(whole, vms))
    const rel = relOf(whole) ?? whole.name
    return {
      rel,
      links: action ? actionLinks(action, href, sees) : [link('remove', href)],
      refusal,
    }
  })
}

/** A vApp is deleted whole; any other action is for those of its VMs that can take it. */
function refusalOfAll(whole: VappOperation, vms: readonly VmRow[]): ActionRefusal | undefined {
  const { kind, otherwise = 'there is nothing to apply it to' } = whole
  const refusals = vms.flatMap((vm) => {
    const operation = whole.forVm(vm)
    const refusal = operation
      ? stateRefusal(vm, operation)
      : ({ code: 'nothing', because: otherwise } as const)
    return refusal ? [{ ...refusal, because: `VM ${vm.name}: ${refusal.because}` }] : []
  })
  const [first] = refusals
  if (kind === 'delete') return first
  if (vms.length === 0) return { code: 'nothing', because: 'it has no VMs' }
  return refusals.length === vms.length ? first : undefined
}

/** An action that only needs a right, while the resource is not being deleted. */
export function editOffer(
  { closed }: { readonly closed: boolean },
  {
    rel,
    href,
    document,
  }: { readonly rel: string; readonly href: string; readonly document: string },
  sees: OfferViewer,
): ActionOffer {
  const type = sees.dialect.media(document)
  const refusal = rightRefusal(sees, 'vm:edit') ?? (closed ? CLOSED : undefined)
  return { rel, type, links: [link(rel, href, { type })], refusal }
}

/** To change with whom a vApp or a catalog is shared. `href`: its address. */
export function sharingOffer(
  { closed }: { readonly closed: boolean },
  href: string,
  sees: OfferViewer,
): ActionOffer {
  const { principal, dialect } = sees
  const type = dialect.media('controlAccess')
  const isKept: ActionRefusal | undefined = sharesOn(principal, principal.there)
    ? undefined
    : { code: 'right', because: NOT_SHARED_ON }
  const refusal = rightRefusal(sees, 'vm:edit') ?? isKept ?? (closed ? CLOSED : undefined)
  const links = [link('controlAccess', `${href}/action/controlAccess`, { type })]
  return { rel: 'controlAccess', type, links, refusal }
}

/** What uploads images to a catalog. */
export function uploadOffer(href: string, sees: OfferViewer): ActionOffer {
  const type = sees.dialect.media('uploadParams')
  const links = [link('add', `${href}/action/upload`, { type })]
  return { rel: 'add', type, links, refusal: rightRefusal(sees, 'vm:edit') }
}

export function screenOffers(vm: VmRow, href: string, sees: OfferViewer): ActionOffer[] {
  const right = rightRefusal(sees, 'vm:console')
  const isOff = {
    code: 'state',
    because: `it is ${vm.displayed_status}; this needs it POWERED_ON`,
  } as const
  const noScreen = hasScreen(vm) ? undefined : vm.closed ? CLOSED : isOff
  const offer = (rel: string, path: string, refusal = right ?? noScreen): ActionOffer => ({
    rel,
    links: [link(rel, `${href}/${path}`)],
    refusal,
  })
  return [
    offer('screen:acquireTicket', 'screen/action/acquireTicket'),
    ...(isIn(sees.version, '5.5')
      ? [offer('screen:acquireMksTicket', 'screen/action/acquireMksTicket')]
      : []),
    { ...offer('screen:thumbnail', 'screen'), refusal: right },
  ]
}

/** What creates vApps in a vdc. */
export function vdcOffers(
  { disabled }: { readonly disabled: boolean },
  href: string,
  sees: OfferViewer,
): ActionOffer[] {
  const isDisabled = { code: 'state', because: 'it is disabled' } as const
  const refusal = rightRefusal(sees, 'vm:edit') ?? (disabled ? isDisabled : undefined)
  return ['instantiateVAppTemplate', 'composeVApp', 'cloneVApp'].map((name) => {
    const type = sees.dialect.media(`${name}Params`)
    return { rel: 'add', type, links: [link('add', `${href}/action/${name}`, { type })], refusal }
  })
}

/** What creates networks in a vdc. `href`: the address of its networks. */
export function networkOffer(
  { disabled }: { readonly disabled: boolean },
  href: string,
  sees: OfferViewer,
): ActionOffer {
  const isDisabled = { code: 'state', because: 'it is disabled' } as const
  const refusal = rightRefusal(sees, 'network:edit') ?? (disabled ? isDisabled : undefined)
  const type = sees.dialect.media('orgVdcNetwork')
  return { rel: 'add', type, links: [link('add', href, { type })], refusal }
}
