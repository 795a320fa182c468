import type { PowerState } from '@skerry/vm'

/** Work that somebody asked for and did not wait for. */
export interface Operation {
  readonly id: string
  /** The name of the row that was asked: 'createVm'. */
  readonly name: string
  /** The VM that it is about, if it is about one. */
  readonly vm?: string
  readonly state: 'running' | 'succeeded' | 'failed'
  /** From 0 to 100. */
  readonly progress: number
  readonly started: string
  readonly ended?: string
  /** What the request would have been answered with. */
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly hint?: string
    readonly state?: string
  }
  /** The power it is to lead to, for who finds it cut short. */
  readonly goal?: PowerState
}

/** What a row of the API may change of a VM besides its power. */
export const changedParts = ['folders', 'snapshots', 'forwards', 'settings'] as const
export type ChangedPart = (typeof changedParts)[number]

/** Something that happened, before it has a number. */
export type News =
  | { readonly type: 'vm.created'; readonly vm: string; readonly now: KnownVm }
  | { readonly type: 'vm.changed'; readonly vm: string; readonly now: KnownVm }
  | { readonly type: 'vm.power'; readonly vm: string; readonly power: PowerState }
  | { readonly type: 'vm.deleted'; readonly vm: string }
  | {
      readonly type: `vm.${ChangedPart}`
      readonly vm: string
      /** The name of the row that changed it: 'addFolder'. */
      readonly by: string
    }
  | { readonly type: 'operation'; readonly operation: Operation }
  | { readonly type: 'machine.stopping' | 'machine.started'; readonly vms: readonly string[] }
  | { readonly type: 'machine.ready' }

export type JournalEvent = News & { readonly id: number; readonly at: string }

export interface KnownVm {
  readonly name: string
  readonly tag: string
  readonly power: PowerState
}

/** All that the journal has told, summed up: who reads only its end still knows what came before. */
export interface Known {
  readonly vms: Map<string, KnownVm>
  readonly operations: Map<string, Operation>
  /** VMs that are to be turned on by us: they ran when the machine went down, or start with it. */
  readonly toStart: Set<string>
}

/** More than this many operations that have ended are not remembered. */
const OPERATIONS_KEPT = 500

export const nothingKnown = (): Known => ({
  vms: new Map(),
  operations: new Map(),
  toStart: new Set(),
})

export function learn(known: Known, news: News): void {
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
      // Told twice, the second time hardly anything runs any more.
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

function learnOperation({ operations }: Known, operation: Operation): void {
  operations.set(operation.id, operation)
  for (const { id, state } of operations.values()) {
    if (operations.size <= OPERATIONS_KEPT) break
    if (state !== 'running') operations.delete(id)
  }
}

/** As it stands at the head of a segment. */
export const toJson = ({ vms, operations, toStart }: Known): object => ({
  vms: [...vms],
  operations: [...operations.values()],
  toStart: [...toStart],
})

export function fromJson(json: unknown): Known {
  const { vms, operations, toStart } = json as {
    vms: [string, KnownVm][]
    operations: Operation[]
    toStart: string[]
  }
  return {
    vms: new Map(vms),
    operations: new Map(operations.map((operation) => [operation.id, operation])),
    toStart: new Set(toStart),
  }
}
