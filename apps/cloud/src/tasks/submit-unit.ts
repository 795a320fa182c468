import type { OrgId } from '@skerry/vm'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import type { TaskRow, Tx } from '../database/tables.ts'
import type { NetworkOperation } from '../domain/network-operations.ts'
import { addUnitTask, type UnitKind } from './network-task.ts'
import { submit } from './submit.ts'

/** Writes a change of a network or an edge gateway and its task, which ends when the network server has projected the change. */
export const submitUnit = (
  context: RequestContext,
  caller: Caller,
  { kind, operation }: { readonly kind: UnitKind; readonly operation: NetworkOperation },
  work: (tx: Tx) => Promise<{ readonly org: OrgId; readonly id: string; readonly name: string }>,
): Promise<TaskRow> =>
  submit(context, caller, async (tx, id) => {
    const owner = caller.principal.user
    const task = await addUnitTask(tx, kind, await work(tx), { operation, owner, id })
    return { task, vms: [], operations: [] }
  })
