// A VM of this machine as the pages show it. Its state decides what may be done, by the same rules as vmd's.
import { cloneWays, lifecycleRules } from '@skerry/vm/lifecycle'
import { decidePower, powerRules, type PowerCommand, type PowerState } from '@skerry/vm/power'

import { localPath, type LocalOperation, type LocalVm } from '../../api/machine.ts'
import type { ActionName, VmAction } from '../actions.ts'
import { shellQuoted } from '../commands.ts'
import type { FilterTerm } from '../filter.ts'
import type { DisplayedPower } from '../power.ts'
import type { ShownTask } from '../task.ts'
import type { ListedVm, VmDetails } from '../vm.ts'

export interface MachineVm extends VmDetails {
  readonly tag: string
  readonly autostart: boolean
  readonly sharing: boolean
  readonly bridge?: string | undefined
  /** Why it cannot be used as it should be. */
  readonly problem?: string | undefined
}

const powers: Readonly<Record<string, PowerState>> = {
  'powered on': 'on',
  'powered off': 'off',
  paused: 'paused',
  suspended: 'suspended',
}

export function machineVmOf(vm: LocalVm): MachineVm {
  const power: DisplayedPower = powers[vm.state] ?? 'unknown'
  return {
    id: vm.id,
    name: vm.name,
    href: localPath('vms', vm.id),
    power,
    isBusy: false,
    cpus: vm.cpus ?? 0,
    memoryMiB: vm.memoryMiB ?? 0,
    diskMiB: vm.diskMiB ?? 0,
    address: vm.address,
    screenshotHref: localPath('vms', vm.id, 'screenshot'),
    actions: machineActions(vm.id, powers[vm.state], vm.problem),
    tag: vm.tag,
    autostart: vm.autostart ?? false,
    sharing: vm.sharing ?? false,
    bridge: vm.bridge,
    problem: vm.problem ?? pausedReason(vm),
  }
}

const pausedReason = ({ pausedBy }: LocalVm): string | undefined =>
  pausedBy && `it was paused by a ${pausedBy}; free disk space, then resume it`

const commands: Readonly<Partial<Record<ActionName, PowerCommand>>> = {
  start: 'on',
  shutdown: 'shutdown',
  reboot: 'reboot',
  suspend: 'suspend',
  pause: 'pause',
  unpause: 'unpause',
  reset: 'reset',
  powerOff: 'off',
}
/** Reset and reboot have their own paths. */
const ownPaths: ReadonlySet<PowerCommand> = new Set(['reset', 'reboot'])

function powerAction(id: string, name: ActionName, command: PowerCommand): VmAction {
  return ownPaths.has(command)
    ? { name, method: 'POST', href: localPath('vms', id, command) }
    : { name, method: 'PATCH', href: localPath('vms', 'power', id), body: command }
}

/** Every action, with the reason where it is not available now. */
export function machineActions(
  id: string,
  power: PowerState | undefined,
  problem?: string,
): VmAction[] {
  const byPower = (Object.entries(commands) as [ActionName, PowerCommand][]).map(
    ([name, command]) => ({
      action: powerAction(id, name, command),
      why: power && whyNotCommand(power, command),
    }),
  )
  const part = (name: ActionName, from: readonly PowerState[], rest: Omit<VmAction, 'name'>) => ({
    action: { name, ...rest },
    why: power && whyNotIn(power, from),
  })
  const parts = [
    part('console', ['on', 'paused'], { method: 'POST', href: localPath('vms', id, 'screen') }),
    part('createSnapshot', lifecycleRules.snapshot, {
      method: 'POST',
      href: localPath('vms', id, 'snapshots'),
    }),
    part('changeHardware', lifecycleRules.reconfigure, {
      method: 'PATCH',
      href: localPath('vms', id),
    }),
    part('clone', Object.keys(cloneWays) as PowerState[], { method: 'POST', href: '/api/vms' }),
    part('delete', ['off', 'suspended'], { method: 'DELETE', href: localPath('vms', id) }),
  ]
  return [...byPower, ...parts].map(({ action, why }) => {
    // A VM that cannot be read can still be deleted.
    const reason = problem !== undefined && action.name !== 'delete' ? problem : why
    return reason === undefined ? action : { ...action, unavailable: reason }
  })
}

const whyNotIn = (power: PowerState, from: readonly PowerState[]): string | undefined =>
  from.includes(power) ? undefined : `it is ${power}; this needs it ${from.join(' or ')}`

function whyNotCommand(power: PowerState, command: PowerCommand): string | undefined {
  const decision = decidePower(power, command)
  if (decision === 'go') return undefined
  if (decision === 'nothing') return `it is already ${power}`
  return whyNotIn(power, powerRules[command].from)
}

const columns: Readonly<Record<string, (vm: ListedVm) => string | number>> = {
  name: ({ name }) => name,
  ipAddress: ({ address }) => address ?? '',
  numberOfCpus: ({ cpus }) => cpus,
  memoryMB: ({ memoryMiB }) => memoryMiB,
  diskMB: ({ diskMiB }) => diskMiB,
  status: ({ power }) => power,
}

/** Whether a VM matches all terms of a filter. A machine has no query service: its few VMs are filtered in the browser. */
export const matchesFilter = (vm: ListedVm, terms: readonly FilterTerm[]): boolean =>
  terms.every(({ column, operator, value }) => {
    const own = columns[column]?.(vm)
    if (own === undefined) return false
    if (operator === '=gt=') return Number(own) > Number(value)
    if (operator === '=lt=') return Number(own) < Number(value)
    return matchesPattern(String(own), value) === (operator === '==')
  })

/** Part after part, each at its first place: a regular expression could try all places, and hang on a pattern with many stars. */
function matchesPattern(value: string, pattern: string): boolean {
  const text = value.toLowerCase()
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** In the order of a column, with '-' in front for descending order. */
export function sortedVms<Row extends ListedVm>(vms: readonly Row[], sort: string): Row[] {
  const value = columns[sort.replace(/^-/, '')] ?? (({ name }: ListedVm) => name)
  const sign = sort.startsWith('-') ? -1 : 1
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true })
  return vms.toSorted((a, b) => sign * compare(value(a), value(b)) || compare(a.name, b.name))
}

export const taskOfOperation = (operation: LocalOperation): ShownTask => ({
  id: operation.id,
  href: localPath('operations', operation.id),
  state: ({ running: 'running', succeeded: 'success', failed: 'error' } as const)[operation.state],
  operation: operation.name,
  object: operation.vm ?? '',
  objectId: operation.vm,
  owner: '',
  progress: operation.progress,
  started: operation.started,
  ended: operation.ended,
  mustFinish: true,
  isBulk: false,
  message:
    operation.error && [operation.error.message, operation.error.hint].filter(Boolean).join('; '),
})

export interface LocalAddress {
  readonly origin: string
  /** vmd was started with --token-file. */
  readonly needsToken: boolean
}

/** A request to vmd as a line for a terminal. The token has the variable that `skerry` reads. */
export const localCurl = (
  { origin, needsToken }: LocalAddress,
  method: string,
  path: string,
  body?: unknown,
): string =>
  [
    'curl',
    method === 'GET' ? '' : `-X ${method}`,
    needsToken ? '-H "Authorization: Bearer $SKERRY_TOKEN"' : '',
    body === undefined
      ? ''
      : `-d ${shellQuoted(typeof body === 'string' ? body : JSON.stringify(body))}`,
    shellQuoted(`${origin}${path}`),
  ]
    .filter((part) => part !== '')
    .join(' ')
