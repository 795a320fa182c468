// Long work of vmd that this page started. Events say when it has ended, whatever page is shown then.
import { ApiError, request } from '../../api/client.ts'
import { localPath, startOperation, type LocalOperation } from '../../api/machine.ts'
import { taskOfOperation } from '../../model/machine/machine-vm.ts'
import type { ShownTask } from '../../model/task.ts'
import { rememberTask, reportFailure } from '../own-tasks.ts'

type Outcome = 'succeeded' | 'failed' | 'unknown'

/** What waits for the end of an operation, by its id. */
const waiting = new Map<string, (outcome: Outcome) => void>()

/** The task of long work, which is remembered so that its failure is reported. */
export async function startTask(
  ...operation: Parameters<typeof startOperation>
): Promise<ShownTask | undefined> {
  const started = await startOperation(...operation)
  if (!started) return undefined
  const task = taskOfOperation(started)
  rememberTask(task)
  return task
}

function settle(id: string, outcome: Outcome): void {
  waiting.get(id)?.(outcome)
  waiting.delete(id)
}

/** Reports a failure, and continues what waits for this operation. It may be called more than once for the same end. */
export function noteOperation(operation: LocalOperation): void {
  if (operation.state === 'running') return
  if (operation.state === 'failed')
    void reportFailure(operation.id, taskOfOperation(operation).message)
  settle(operation.id, operation.state)
}

/** For ends whose event this page did not see. What vmd does not answer is read again with the next stream. */
export async function readOpenOperations(): Promise<void> {
  for (const id of waiting.keys()) {
    try {
      noteOperation(await request<LocalOperation>(localPath('operations', id)))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) settle(id, 'unknown')
    }
  }
}

/** Resolves when the work of a task has ended. A failure is reported already. */
export async function endOf({ id }: ShownTask): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  waiting.set(id, resolve)
  // The event may have come before the answer with the id.
  await readOpenOperations()
  return promise
}
