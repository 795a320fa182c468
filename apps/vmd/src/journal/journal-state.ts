import type { PowerState } from '@skerry/vm'

/** Asynchronous work: the caller did not wait for it. */
export interface JournalOperation {
  readonly id: string
  /** The name of the requested route: 'createVm'. */
  readonly name: string
  /** The VM that it concerns, if any. */
  readonly vm?: string
  readonly state: 'running' | 'succeeded' | 'failed'
  /** From 0 to 100. */
  readonly progress: number
  readonly started: string
  readonly ended?: string
  /** The response body of the equivalent synchronous request. */
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly hint?: string
    readonly state?: string
  }
  /** The intended power state, to settle an interrupted operation. */
  readonly goal?: PowerState
}

/** The parts of a VM, besides its power state, that a route may change. */
export type ChangedPart = 'folders' | 'snapshots' | 'forwards' | 'settings'

/** An event before it has an id. */
export type NewJournalEvent =
  | { readonly type: 'vm.created'; readonly vm: string; readonly now: KnownVm }
  | { readonly type: 'vm.changed'; readonly vm: string; readonly now: KnownVm }
  | { readonly type: 'vm.power'; readonly vm: string; readonly power: PowerState }
  | { readonly type: 'vm.deleted'; readonly vm: string }
  | {
      readonly type: `vm.${ChangedPart}`
      readonly vm: string
      /** The name of the route that changed it: 'addFolder'. */
      readonly by: string
    }
  | { readonly type: 'operation'; readonly operation: JournalOperation }
  | { readonly type: 'machine.stopping' | 'machine.started'; readonly vms: readonly string[] }
  | { readonly type: 'machine.ready' }

export type JournalEvent = NewJournalEvent & { readonly id: number; readonly at: string }

export interface KnownVm {
  readonly name: string
  readonly tag: string
  readonly power: PowerState
}

/** The summary of all events: a reader of the newest segment alone knows the state before it. */
export interface JournalState {
  readonly vms: Map<string, KnownVm>
  readonly operations: Map<string, JournalOperation>
  /** VMs that vmd will start: they ran when the machine shut down, or start with it. */
  readonly toStart: Set<string>
}

/** The maximum number of finished operations that are remembered. */
const OPERATIONS_KEPT = 500

export const nothingKnown = (): JournalState => ({
  vms: new Map(),
  operations: new Map(),
  toStart: new Set(),
})

export function applyEvent(known: JournalState, news: NewJournalEvent): void {
  const { vms, toStart } = known
  switch (news.type) {
    case 'vm.created':
    case 'vm.changed':
      vms.set(news.vm, news.now)
      break
    case 'vm.power': {
      const vm = vms.get(news.vm)
      if (vm) vms.set(news.vm, { ...vm, power: news.power })
      if (news.power === 'on') toStart.delete(news.vm)
      break
    }
    case 'vm.deleted':
      vms.delete(news.vm)
      toStart.delete(news.vm)
      break
    case 'operation':
      learnOperation(known, news.operation)
      break
    case 'machine.started':
      toStart.clear()
      for (const id of news.vms) toStart.add(id)
      break
    case 'machine.stopping':
      // If it happens twice, hardly any VM runs the second time: so VMs are only added.
      for (const id of news.vms) toStart.add(id)
      break
    case 'machine.ready':
      toStart.clear()
      break
    case 'vm.folders':
    case 'vm.snapshots':
    case 'vm.forwards':
    case 'vm.settings':
      break
  }
}

function learnOperation({ operations }: JournalState, operation: JournalOperation): void {
  operations.set(operation.id, operation)
  for (const { id, state } of operations.values()) {
    if (operations.size <= OPERATIONS_KEPT) break
    if (state !== 'running') operations.delete(id)
  }
}

/** The form in the header of a segment. */
export const toJson = ({ vms, operations, toStart }: JournalState): object => ({
  vms: [...vms],
  operations: [...operations.values()],
  toStart: [...toStart],
})

export function fromJson(json: unknown): JournalState {
  const { vms, operations, toStart } = json as {
    vms: [string, KnownVm][]
    operations: JournalOperation[]
    toStart: string[]
  }
  return {
    vms: new Map(vms),
    operations: new Map(operations.map((operation) => [operation.id, operation])),
    toStart: new Set(toStart),
  }
}
