import type { Message } from '@skerry/service'
import type { OrgId, TaskId } from '@skerry/vm'

import type { EventRow } from '../database/events.ts'
import type { TaskState } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { SYSTEM_ROLE } from '../domain/roles.ts'

/** Whose events a reader sees. */
export type EventScope = OrgId | 'all'

export const scopeOf = ({ role, org }: Pick<Principal, 'role' | 'org'>): EventScope =>
  role === SYSTEM_ROLE ? 'all' : org

/** Rows and progress that wait in memory for one reader. With more it falls behind, and reads on from the database. */
export const WAITING_MOST = 2000

const endStates = ['success', 'error', 'canceled'] as const satisfies readonly TaskState[]
const endKinds: ReadonlySet<string> = new Set(endStates.map((state) => `task.${state}`))

export interface FeedOptions {
  readonly principal: Principal
  readonly token: string
  /** Whether its reader asked for the progress of tasks. */
  readonly isWithProgress: boolean
}

/**
 * One open response that streams events. It begins behind: its reader catches up from the database, and gets what the cell's reader
 * hands to all feeds from then on.
 */
export class Feed {
  readonly principal: Principal
  readonly token: string
  readonly isWithProgress: boolean
  readonly #close: () => void
  #isOver = false
  #isBehind = true
  #rows: EventRow[] = []
  readonly #progress = new Map<TaskId, Message>()
  /** Tasks whose end the reader got since progress was last read. */
  readonly #ended = new Set<TaskId>()
  #wake: (() => void) | undefined

  constructor({ principal, token, isWithProgress }: FeedOptions, close: () => void) {
    this.principal = principal
    this.token = token
    this.isWithProgress = isWithProgress
    this.#close = close
  }

  /** Whether it has ended, or its reader has lost access. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when there may be something to read, or when the feed has ended. */
  async due(): Promise<void> {
    while (!this.#isOver && !this.#isBehind && this.#rows.length + this.#progress.size === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** New events of its scope, in order. */
  add(rows: readonly EventRow[]): void {
    // It will read them from the database.
    if (this.#isBehind) return
    if (this.#rows.length + rows.length > WAITING_MOST) return this.fallBehind()
    this.#rows.push(...rows)
    this.#wake?.()
  }

  /** Called before progress is read: what is read from then on has nothing of the tasks that ended so far. */
  expectProgress(): void {
    this.#ended.clear()
  }

  /** Only the newest progress of a task waits. */
  addProgress(task: TaskId, message: Message): void {
    if (this.#ended.has(task)) return
    const [oldest] = this.#progress.keys()
    if (this.#progress.size >= WAITING_MOST && oldest !== undefined) this.#progress.delete(oldest)
    this.#progress.set(task, message)
    this.#wake?.()
  }

  /** From now on its reader has to read from the database. */
  fallBehind(): void {
    this.#isBehind = true
    this.#rows = []
    this.#wake?.()
  }

  /**
   * Whether the reader has to read from the database now. What the cell reads from here on waits for it, so nothing is missed in
   * between, and what both have read is skipped by its position.
   */
  startCatchUp(): boolean {
    const wasBehind = this.#isBehind
    this.#isBehind = false
    return wasBehind
  }

  takeRows(): readonly EventRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  /** Called before these events are sent: no progress of a task follows its end. */
  dropProgressOfEnded(rows: readonly EventRow[]): void {
    if (!this.isWithProgress) return
    for (const { kind, task } of rows) {
      if (task === null || !endKinds.has(kind)) continue
      this.#progress.delete(task)
      this.#ended.add(task)
    }
  }

  takeProgress(): readonly Message[] {
    const messages = [...this.#progress.values()]
    this.#progress.clear()
    return messages
  }

  end(): void {
    this.#isOver = true
    this.#close()
    this.#wake?.()
  }
}
