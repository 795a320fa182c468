import type { Operation } from './operation.ts'
import { clone, lend } from './operations/clone.ts'
import { create } from './operations/create.ts'
import { deleteVm } from './operations/delete.ts'
import { nestedOperations } from './operations/nested.ts'
import { powerOperations } from './operations/power.ts'
import { reconfigure } from './operations/reconfigure.ts'
import { snapshotOperations } from './operations/snapshot.ts'

/** Everything that ends as a Task of one VM. */
export const operations: readonly Operation[] = [
  create,
  clone,
  lend,
  ...powerOperations,
  ...nestedOperations,
  ...snapshotOperations,
  reconfigure,
  deleteVm,
]

export function operationNamed(name: string): Operation {
  const found = operations.find((each) => each.name === name)
  if (!found) throw new TypeError(`there is no operation ${name}`)
  return found
}
