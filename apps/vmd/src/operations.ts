import { Fault } from '@skerry/fault'
import type { Answer, Clock } from '@skerry/service'
import type { PowerState } from '@skerry/vm'

import type { Journal } from './journal.ts'
import type { Operation } from './known.ts'

const RUNNING_MAX = 200

/** Told by the work itself, from 0 to 100, whenever it knows. */
export type Progress = (percent: number) => void

export interface NewOperation {
  readonly name: string
  readonly vm?: string
  readonly goal?: PowerState
}

/** What is in a failed operation in place of the answer. */
export type Failure = (error: unknown, id: string) => NonNullable<Operation['error']>

/** What a VM is now, as far as it tells whether an operation was done. */
export type Look = (vm: string) => { readonly power: PowerState; readonly made: string } | undefined

/** Work that goes on after its request was answered. It is kept in the journal and nowhere else. */
export class Operations {
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #failure: Failure
  readonly #running = new Set<Promise<void>>()

  constructor(journal: Journal, clock: Clock, newId: () => string, failure: Failure) {
    this.#journal = journal
    this.#clock = clock
    this.#newId = newId
    this.#failure = failure
  }

  /** The newest last. */
  all(): Operation[] {
    return [...this.#journal.known.operations.values()]
  }

  find(id: string): Operation {
    const operation = this.#journal.known.operations.get(id)
    if (operation) return operation
    throw new Fault('not-found', `there is no operation ${id}`, {
      hint: 'GET /api/operations lists those that are remembered',
    })
  }

  get running(): number {
    return this.#running.size
  }

  /** Begins; returns as soon as the operation can be found again, even after a power cut. */
  async start(
    asked: NewOperation,
    work: (progress: Progress) => Promise<Answer>,
  ): Promise<Operation> {
    if (this.#running.size >= RUNNING_MAX) {
      throw new Fault('too-many', `${RUNNING_MAX} operations are running already`, {
        hint: 'wait for one of GET /api/operations to end, then ask again',
      })
    }
    const operation: Operation = {
      id: this.#newId(),
      ...asked,
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

  /** Ends what a crash cut short: as done where the VM is what it was to become. */
  async settle(look: Look): Promise<void> {
    for (const operation of this.all().filter(({ state }) => state === 'running')) {
      const { name, vm, goal, started } = operation
      const found = vm === undefined ? undefined : look(vm)
      const done =
        goal === undefined
          ? name === 'createVm' && found !== undefined && found.made >= started
          : found?.power === goal
      if (done) await this.#end(operation, { state: 'succeeded', progress: 100 })
      else {
        const message = 'vmd stopped while this was under way'
        const hint = 'ask again: what was done already is not done twice'
        await this.#end(operation, { state: 'failed', error: { code: 503, message, hint } })
      }
    }
  }

  /** Until nothing runs any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #run(operation: Operation, work: (progress: Progress) => Promise<Answer>): Promise<void> {
    let told = 0
    const progress = (percent: number): void => {
      const whole = Math.min(99, Math.floor(percent))
      if (whole <= told) return
      told = whole
      // Who misses one hears the next; the journal notes its own failures.
      this.#write({ ...operation, progress: whole }).catch(() => undefined)
    }
    let end: Partial<Operation>
    try {
      const { body } = await work(progress)
      end = { state: 'succeeded', progress: 100, ...(body !== undefined && { result: body }) }
    } catch (error) {
      end = { state: 'failed', progress: told, error: this.#failure(error, operation.id) }
    }
    await this.#end(operation, end)
  }

  async #end(operation: Operation, end: Partial<Operation>): Promise<void> {
    await this.#write({ ...operation, ...end, ended: this.#clock.now().toISOString() })
  }

  async #write(operation: Operation): Promise<void> {
    await this.#journal.append({ type: 'operation', operation })
  }
}
