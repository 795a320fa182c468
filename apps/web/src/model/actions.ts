// What may be done with a VM or vApp of a cloud: the links of its document. Nothing is derived from its state.
import type { ApiLink, Unavailable } from '../api/documents.ts'
import { withPlainStates } from './power.ts'

export const actionNames = [
  'start',
  'shutdown',
  'reboot',
  'suspend',
  'pause',
  'unpause',
  'reset',
  'powerOff',
  'discardState',
  'console',
  'createSnapshot',
  'revertSnapshot',
  'removeSnapshot',
  'changeHardware',
  'clone',
  'delete',
] as const
export type ActionName = (typeof actionNames)[number]

export interface VmAction {
  readonly name: ActionName
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly href: string
  /** What is sent with it, unless the user is asked for it. */
  readonly body?: string
  /** Why it is not available now; undefined: it is. */
  readonly unavailable?: string
}

const byRel: Readonly<Record<string, ActionName>> = {
  'power:powerOn': 'start',
  'power:shutdown': 'shutdown',
  'power:reboot': 'reboot',
  'power:suspend': 'suspend',
  'power:reset': 'reset',
  'power:powerOff': 'powerOff',
  discardState: 'discardState',
  'screen:acquireTicket': 'console',
  'snapshot:create': 'createSnapshot',
  'snapshot:revertToCurrent': 'revertSnapshot',
  'snapshot:removeAll': 'removeSnapshot',
  reconfigureVm: 'changeHardware',
  remove: 'delete',
}

interface Actionable {
  readonly link?: readonly ApiLink[]
  readonly unavailable?: readonly Unavailable[]
}

/** In the order of `actionNames`; an action that the document does not mention is missing. */
export function actionsOf({ link = [], unavailable = [] }: Actionable): VmAction[] {
  const offered: readonly (Pick<ApiLink, 'rel' | 'href'> & { readonly because?: string })[] = [
    ...link,
    ...unavailable.map(({ rel, because }) => ({ rel, href: '', because })),
  ]
  const actions = offered.flatMap(({ rel, href, because }): VmAction[] => {
    const name = byRel[rel]
    if (name === undefined) return []
    const method = name === 'delete' ? 'DELETE' : 'POST'
    const reason = because === undefined ? {} : { unavailable: withPlainStates(because) }
    return [{ name, method, href, ...reason }]
  })
  return actions.toSorted((a, b) => actionNames.indexOf(a.name) - actionNames.indexOf(b.name))
}

export const findAction = (actions: readonly VmAction[], name: ActionName): VmAction | undefined =>
  actions.find((action) => action.name === name)

export const isAvailable = (action: VmAction): boolean => action.unavailable === undefined
