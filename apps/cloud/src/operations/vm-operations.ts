import type { Operation } from '../tasks/operation.ts'
import { clone, holdForClone } from './clone.ts'
import { connectVm } from './connect.ts'
import { create } from './create.ts'
import { deleteVm } from './delete.ts'
import { nestedOperations } from './nested.ts'
import { powerOperations } from './power.ts'
import { reconfigure } from './reconfigure.ts'
import { snapshotOperations } from './snapshot.ts'

/** All operations that run as a Task of one VM. */
export const operations: readonly Operation[] = [
  create,
  clone,
  holdForClone,
  ...powerOperations,
  ...nestedOperations,
  ...snapshotOperations,
  reconfigure,
  connectVm,
  deleteVm,
]

export function operationNamed(name: string): Operation {
  const found = operations.find((each) => each.name === name)
  if (!found) throw new TypeError(`unknown operation ${name}`)
  return found
}
