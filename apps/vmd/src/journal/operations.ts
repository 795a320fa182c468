import { Fault } from '@skerry/fault'
import type { Answer, Clock } from '@skerry/service'
import type { PowerState } from '@skerry/vm'

import type { JournalOperation } from './journal-state.ts'
import type { Journal } from './journal.ts'

const RUNNING_MAX = 200

/** Called by the work with its progress, from 0 to 100. */
export type OnProgress = (percent: number) => void

export interface NewOperation {
  readonly name: string
  readonly vm?: string
  readonly goal?: PowerState
}

/** Converts an error to the error of a failed operation. */
export type OperationFailure = (
  error: unknown,
  id: string,
) => NonNullable<JournalOperation['error']>

/** The state of a VM now, as needed to decide whether an operation was done. */
export type VmLookup = (
  vm: string,
) => { readonly power: PowerState; readonly made: string } | undefined

/** Work that continues after its request was answered. It is stored only in the journal. */
export class Operations {
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #failure: OperationFailure
  readonly #running = new Set<Promise<void>>()

  constructor(journal: Journal, clock: Clock, newId: () => string, failure: OperationFailure) {
    this.#journal = journal
    this.#clock = clock
    this.#newId = newId
    this.#failure = failure
  }

  /** The newest last. */
  all(): JournalOperation[] {
    return [...this.#journal.known.operations.values()]
  }

  find(id: string): JournalOperation {
    const operation = this.#journal.known.operations.get(id)
    if (operation) return operation
    throw new Fault('not-found', `operation ${id} not found`, {
      hint: 'GET /api/operations lists all that are kept',
    })
  }

  get running(): number {
    return this.#running.size
  }

  /** Starts the work; returns once the operation is durable, i.e. survives a power cut. */
  async start(
    requested: NewOperation,
    work: (progress: OnProgress) => Promise<Answer>,
  ): Promise<JournalOperation> {
    if (this.#running.size >= RUNNING_MAX) {
      throw new Fault('too-many', `${RUNNING_MAX} operations are already running`, {
        hint: 'wait until one in GET /api/operations has ended, then retry',
      })
    }
    const operation: JournalOperation = {
      id: this.#newId(),
      ...requested,
      state: 'running',
      progress: 0,
      started: this.#clock.now().toISOString(),
    }
    await this.#write(operation)
    const run = this.#run(operation, work).catch(() => undefined)
    this.#running.add(run)
    void run.then(() => this.#running.delete(run))
    return operation
  }

  /** Ends operations that a crash interrupted: as done if the VM has the intended state. */
  async settle(look: VmLookup): Promise<void> {
    for (const operation of this.all().filter(({ state }) => state === 'running')) {
      const { name, vm, goal, started } = operation
      const found = vm === undefined ? undefined : look(vm)
      const done =
        goal === undefined
          ? name === 'createVm' && found !== undefined && found.made >= started
          : found?.power === goal
      if (done) await this.#end(operation, { state: 'succeeded', progress: 100 })
      else {
        const message = 'vmd stopped during this operation'
        const hint = 'retry: completed parts are not repeated'
        await this.#end(operation, { state: 'failed', error: { code: 503, message, hint } })
      }
    }
  }

  /** Waits until no operation runs. */
  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #run(
    operation: JournalOperation,
    work: (progress: OnProgress) => Promise<Answer>,
  ): Promise<void> {
    let reported = 0
    const progress = (percent: number): void => {
      const whole = Math.min(99, Math.floor(percent))
      if (whole <= reported) return
      reported = whole
      // A lost update is superseded by the next; the journal logs its own failures.
      this.#write({ ...operation, progress: whole }).catch(() => undefined)
    }
    let end: Partial<JournalOperation>
    try {
      const { body } = await work(progress)
      end = { state: 'succeeded', progress: 100, ...(body !== undefined && { result: body }) }
    } catch (error) {
      end = { state: 'failed', progress: reported, error: this.#failure(error, operation.id) }
    }
    await this.#end(operation, end)
  }

  async #end(operation: JournalOperation, end: Partial<JournalOperation>): Promise<void> {
    await this.#write({ ...operation, ...end, ended: this.#clock.now().toISOString() })
  }

  async #write(operation: JournalOperation): Promise<void> {
    await this.#journal.append({ type: 'operation', operation })
  }
}
