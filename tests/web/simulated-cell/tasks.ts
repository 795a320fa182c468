// Tasks of the simulated cell: they progress by themselves and report events.
import {
  addressOf,
  factsOf,
  KIND,
  mix,
  statuses,
  STATUSES,
  uuidOf,
  type Status,
} from './inventory.ts'
import { DELETED } from './query.ts'

export interface SimulatedTask {
  readonly id: string
  readonly operation: string
  readonly vm: number
  readonly object: string
  readonly owner: string
  readonly org: number
  readonly created: number
  started?: number
  ended?: number
  state: 'queued' | 'running' | 'success' | 'error' | 'canceled'
  progress: number
  isCancelRequested: boolean
  error?: { readonly code: string; readonly status: number; readonly message: string }
  /** The action on many VMs that it is a part of. */
  readonly parent?: SimulatedTask
  /** The parts of an action on many VMs. */
  readonly parts?: SimulatedTask[]
}

export interface SimulatedEvent {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

export interface Operation {
  readonly name: string
  readonly rel: string
  readonly path: string
  readonly from: readonly Status[]
  readonly to?: Status
  readonly right: 'vm:power' | 'vm:edit'
  readonly seconds: number
  readonly document?: string
}

const powerOperation = (
  rel: string,
  name: string,
  from: readonly Status[],
  to: Status,
  seconds: number,
): Operation => ({
  name,
  rel: `power:${rel}`,
  path: `power/action/${rel}`,
  from,
  to,
  right: 'vm:power',
  seconds,
})

const editOperation = (rel: string, name: string, path: string, seconds: number): Operation => ({
  name,
  rel,
  path,
  from: ['POWERED_ON', 'POWERED_OFF'],
  right: 'vm:edit',
  seconds,
})

export const operations: readonly Operation[] = [
  powerOperation('powerOn', 'vappDeploy', ['POWERED_OFF', 'SUSPENDED'], 'POWERED_ON', 5),
  powerOperation('powerOff', 'vappPowerOff', ['POWERED_ON'], 'POWERED_OFF', 2),
  powerOperation('shutdown', 'vappShutdownGuest', ['POWERED_ON'], 'POWERED_OFF', 7),
  powerOperation('reboot', 'vappRebootGuest', ['POWERED_ON'], 'POWERED_ON', 5),
  powerOperation('reset', 'vappReset', ['POWERED_ON'], 'POWERED_ON', 2),
  powerOperation('suspend', 'vappSuspend', ['POWERED_ON'], 'SUSPENDED', 9),
  {
    name: 'vappDiscardSuspendedState',
    rel: 'discardState',
    path: 'action/discardSuspendedState',
    from: ['SUSPENDED'],
    to: 'POWERED_OFF',
    right: 'vm:power',
    seconds: 2,
  },
  editOperation('snapshot:create', 'vappCreateSnapshot', 'action/createSnapshot', 8),
  editOperation(
    'snapshot:revertToCurrent',
    'vappRevertToCurrentSnapshot',
    'action/revertToCurrentSnapshot',
    6,
  ),
  editOperation('snapshot:removeAll', 'vappRemoveAllSnapshots', 'action/removeAllSnapshots', 4),
  {
    name: 'vappUpdateVm',
    rel: 'reconfigureVm',
    path: 'action/reconfigureVm',
    from: ['POWERED_OFF'],
    right: 'vm:edit',
    seconds: 3,
  },
  {
    name: 'vdcDeleteVapp',
    rel: 'remove',
    path: '',
    from: ['POWERED_OFF'],
    right: 'vm:edit',
    seconds: 4,
  },
]

export const snapshots = new Map<number, { name: string; created: number; hasMemory: boolean }>()

const MINUTE = 60_000
const TICK_MS = 40
/** How long a task is queued. */
const QUEUED_MS = 250

/** What happened before the first request: operation, VM, user, minutes ago, and the error. */
const past: readonly (readonly [string, number, string, number, string?])[] = [
  ['vappDeploy', 11_441, 'alice', 3],
  ['vappCreateSnapshot', 6553, 'bob', 11],
  [
    'vappShutdownGuest',
    2084,
    'alice',
    18,
    'the guest of VM cache-dev-005 did not shut down within 60 s; power it off, or look at its screen',
  ],
  ['vappUpdateVm', 8330, 'alice', 26],
  [
    'vappDeploy',
    310,
    'bob',
    41,
    'no host of data centre main has room for 16 CPUs and 65536 MiB; stop a VM, or ask the administrator for another host',
  ],
  ['vappSuspend', 4444, 'alice', 63],
]

export class TaskQueue {
  readonly tasks = new Map<string, SimulatedTask>()
  readonly events: SimulatedEvent[] = []
  readonly #listeners = new Set<() => void>()
  readonly #progressListeners = new Set<(task: SimulatedTask) => void>()
  #count = 0
  #sequence = 4711
  /** How much faster than a real cloud; also for tasks that are running. */
  speed: number

  constructor(speed = 1) {
    this.speed = speed
    for (const [operation, vm, owner, minutes, message] of past)
      this.#addPast(operation, vm, owner, Date.now() - minutes * MINUTE, message)
    snapshots.set(11_441, {
      name: 'before-upgrade',
      created: Date.now() - 3 * 86_400_000,
      hasMemory: true,
    })
    snapshots.set(5, { name: 'clean', created: Date.now() - 12 * 86_400_000, hasMemory: false })
  }

  emit(event: string, data: Record<string, unknown>): void {
    this.events.push({
      id: `${this.#sequence++}-1`,
      event,
      data: { at: new Date().toISOString(), ...data },
    })
    for (const wake of this.#listeners) wake()
  }

  get lastId(): string {
    return this.events.at(-1)?.id ?? `${this.#sequence}-0`
  }

  listen(wake: () => void): () => void {
    this.#listeners.add(wake)
    return () => this.#listeners.delete(wake)
  }

  /** Calls with a task whose progress has changed, at most once a second. */
  listenToProgress(tell: (task: SimulatedTask) => void): () => void {
    this.#progressListeners.add(tell)
    return () => this.#progressListeners.delete(tell)
  }

  readonly #timers = new Set<NodeJS.Timeout>()

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** `onSuccess` changes what the operation changes. */
  submit(
    operation: Operation,
    vm: number,
    owner: string,
    onSuccess: () => void = () => undefined,
    parent?: SimulatedTask,
  ): SimulatedTask {
    const { name, org } = factsOf(vm)
    const task: SimulatedTask = {
      id: uuidOf(KIND.task, ++this.#count),
      operation: operation.name,
      vm,
      object: name,
      owner,
      org,
      created: Date.now(),
      state: 'queued',
      progress: 0,
      isCancelRequested: false,
      ...(parent && { parent }),
    }
    this.tasks.set(task.id, task)
    this.#report(task, 'task.queued')
    this.#run(task, operation, onSuccess)
    return task
  }

  #run(task: SimulatedTask, operation: Operation, onSuccess: () => void): void {
    const ms = operation.seconds * 1000 * (0.8 + (task.vm % 5) / 10)
    let passed = -QUEUED_MS
    let told = 0
    let at = Date.now()
    const timer = setInterval(() => {
      passed += (Date.now() - at) * this.speed
      at = Date.now()
      if (passed < 0) return
      this.#advance(task, operation, passed / ms, onSuccess)
      if (task.ended !== undefined) {
        clearInterval(timer)
        this.#timers.delete(timer)
      } else if (passed - told >= 1000) {
        told = passed
        for (const tell of this.#progressListeners) tell(task)
      }
    }, TICK_MS)
    this.#timers.add(timer)
  }

  /** One task for many VMs. `whyNot`: why the operation is not possible for a VM. */
  submitBulk(
    operation: Operation,
    vms: readonly number[],
    owner: string,
    whyNot: (vm: number) => string | undefined,
  ): SimulatedTask {
    const parent: SimulatedTask = {
      id: uuidOf(KIND.task, ++this.#count),
      operation: operation.name,
      vm: -1,
      object: `${vms.length} VMs`,
      owner,
      org: 0,
      created: Date.now(),
      state: 'running',
      progress: 0,
      isCancelRequested: false,
      parts: [],
    }
    this.tasks.set(parent.id, parent)
    for (const vm of vms) {
      const task = this.submit(operation, vm, owner, undefined, parent)
      parent.parts?.push(task)
      const because = whyNot(vm)
      if (because === undefined) continue
      task.error = { code: 'CONFLICT', status: 409, message: `VM ${task.object}: ${because}` }
      this.#end(task, 'error')
    }
    return parent
  }

  /** The progress of an action on many VMs, and its end after its last part. */
  #record(parent: SimulatedTask): void {
    const parts = parent.parts ?? []
    const ended = parts.filter((part) => part.ended !== undefined)
    parent.progress = Math.floor((100 * ended.length) / parts.length)
    if (ended.length < parts.length) for (const tell of this.#progressListeners) tell(parent)
    if (ended.length < parts.length || parent.ended !== undefined) return
    const failed = parts.filter(({ state }) => state === 'error')
    const [first] = failed
    const message = `${failed.length} of ${parts.length} VMs failed, the first because ${first?.error?.message}`
    if (first) parent.error = { code: 'CONFLICT', status: 409, message }
    parent.state = first ? 'error' : 'success'
    parent.ended = Date.now()
    this.emit(`task.${parent.state}`, { task: parent.id, operation: parent.operation })
  }

  #advance(task: SimulatedTask, operation: Operation, share: number, onSuccess: () => void): void {
    if (task.ended !== undefined) return
    if (task.state === 'queued') {
      task.state = 'running'
      task.started = Date.now()
      this.#report(task, 'task.running')
    }
    task.progress = Math.min(99, Math.floor(share * 99))
    if (task.isCancelRequested) return this.#end(task, 'canceled')
    if (share < 1) return
    // Every ninth guest does not react to a shutdown.
    if (operation.name === 'vappShutdownGuest' && task.vm % 9 === 4) {
      task.error = {
        code: 'TIMED_OUT',
        status: 504,
        message: `the guest of VM ${task.object} did not shut down within 60 s; power it off, or look at its screen`,
      }
      return this.#end(task, 'error')
    }
    task.progress = 100
    onSuccess()
    if (operation.to) {
      statuses[task.vm] = STATUSES.indexOf(operation.to)
      const address = addressOf(factsOf(task.vm))
      this.emit('vm.status', { vm: uuidOf(KIND.vm, task.vm), status: operation.to, address })
    }
    if (operation.rel === 'remove') statuses[task.vm] = DELETED
    this.#end(task, 'success')
  }

  #end(task: SimulatedTask, state: 'success' | 'error' | 'canceled'): void {
    task.state = state
    task.ended = Date.now()
    this.#report(task, `task.${state}`)
    if (task.parent) this.#record(task.parent)
  }

  #report(task: SimulatedTask, event: string): void {
    this.emit(event, {
      vm: uuidOf(KIND.vm, task.vm),
      task: task.id,
      operation: task.operation,
      message: task.error?.message,
    })
  }

  #addPast(operation: string, vm: number, owner: string, at: number, message?: string): void {
    const id = uuidOf(KIND.task, ++this.#count)
    this.tasks.set(id, {
      id,
      operation,
      vm,
      object: factsOf(vm).name,
      owner,
      org: 0,
      created: at,
      started: at + 300,
      ended: at + 4000 + (mix(vm) % 8000),
      state: message === undefined ? 'success' : 'error',
      progress: message === undefined ? 100 : 62,
      isCancelRequested: false,
      ...(message !== undefined && { error: { code: 'CONFLICT', status: 409, message } }),
    })
  }
}
