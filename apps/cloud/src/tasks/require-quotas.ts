import type { Tx } from '../database/tables.ts'
import { begins } from '../domain/task-kind.ts'
import { mayStart } from '../domain/vm-status.ts'
import { requireQuota, requireStorage } from '../tenants/quotas.ts'
import type { Submitted } from './submit-task.ts'

/** Checks the quotas that the operations of a new task can exceed, as they declare it. */
export async function requireQuotas(tx: Tx, { task, operations }: Submitted): Promise<void> {
  const makes = operations.some(({ kind }) => begins(kind))
  const starts = operations.some(mayStart)
  if (makes) await requireQuota(tx, task.org, 'make')
  if (starts) await requireQuota(tx, task.org, 'start')
  if (operations.some(({ stores }) => stores !== 'nothing')) {
    await requireStorage(tx, task.org, task.id)
  }
}
