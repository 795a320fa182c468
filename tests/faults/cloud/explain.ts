// Tasks that ended without success, and whether a kill explains them.
import type { Kill } from './kills.ts'
import type { Life } from './qemu-watch.ts'

export interface Ended {
  readonly id: string
  readonly parent: string | null
  readonly vm: string | null
  readonly owner: string
  readonly operation: string
  readonly state: string
  readonly fault: string | null
  readonly message: string | null
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

/** Failures that no kill explains. `lives`: the QEMU processes that have ended. */
export function unexplained(
  ended: readonly Ended[],
  kills: readonly Kill[],
  lives: readonly Life[],
): string[] {
  const killed = new Set(kills.flatMap(({ what, whose }) => (what === 'qemu' ? [whose] : [])))
  const parts = ended.filter(({ vm }) => vm !== null)
  const failed = parts.filter(({ state }) => state !== 'success')
  const wrong = failed
    .filter((task) => !isExplained(task, killed, failed))
    .map(({ id, vm, operation, state, fault, message }) =>
      [`task ${id} ${operation} of VM ${vm}`, state, fault, message].join(', '),
    )
  return [...wrong, ...restarts(parts, kills), ...stopped(parts, kills, lives)]
}

/**
 * A reset interrupted by the death of vmd may have happened, and its error says so. A guest whose QEMU was killed is not in the
 * state that its queued tasks expect; nor is one whose earlier task failed.
 */
function isExplained(task: Ended, killed: ReadonlySet<string>, failed: readonly Ended[]): boolean {
  const { id, vm, operation, fault, state } = task
  if (operation === 'reset' && fault === 'interrupted') return true
  const earlier = failed.some((other) => other.vm === vm && other.id < id)
  if (fault === 'conflict' || fault === 'wrong-state') return killed.has(vm ?? '') || earlier
  return state === 'canceled' && earlier
}

/** The cloud itself starts a VM once for each kill of its QEMU, and for no other reason. */
function restarts(parts: readonly Ended[], kills: readonly Kill[]): string[] {
  const started = new Map<string, number>()
  for (const { owner, vm } of parts) {
    if (owner === 'system' && vm !== null) started.set(vm, (started.get(vm) ?? 0) + 1)
  }
  return [...started].flatMap(([vm, times]) => {
    const deaths = kills.filter(({ what, whose }) => what === 'qemu' && whose === vm).length
    return times > deaths
      ? [`VM ${vm} was started ${times} times by the cloud, its QEMU killed ${deaths} times`]
      : []
  })
}

/** The death of a control process stops no guest: one that ended was killed itself, or a task of its VM was running then. */
function stopped(
  parts: readonly Ended[],
  kills: readonly Kill[],
  lives: readonly Life[],
): string[] {
  const wasKilled = ({ pid, vm }: Life) =>
    kills.some(({ what, whose, pid: killed }) => what === 'qemu' && whose === vm && killed === pid)
  const wasAsked = ({ vm, ended }: Life) =>
    parts.some(
      (task) =>
        task.vm === vm &&
        (task.started_at?.getTime() ?? Number.POSITIVE_INFINITY) <= (ended?.before ?? 0) &&
        (task.ended_at?.getTime() ?? 0) >= (ended?.after ?? 0),
    )
  return lives
    .filter((life) => parts.some(({ vm }) => vm === life.vm))
    .filter((life) => !wasKilled(life) && !wasAsked(life))
    .map(({ vm, pid }) => `the QEMU ${pid} of VM ${vm} ended, and no task or kill explains it`)
}
