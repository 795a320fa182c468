import { at } from '../dialect/addresses.ts'
import { route } from '../http/route.ts'
import { rename } from '../inventory/rename.ts'
import { renameParams } from '../params/rename.ts'
import { recordImmediateTask } from '../responses/immediate-task.ts'

export const renaming = [
  route({
    name: 'rename',
    method: 'PUT',
    path: at.entity,
    permission: 'vm:edit',
    takes: renameParams,
    answers: { 202: 'task' },
    doc: 'Renames a vApp or a VM.',
    handle: (context, caller) =>
      recordImmediateTask(context, caller, caller.params.entity, 'rename', (tx, subject) =>
        rename(tx, subject, caller.body.name),
      ),
  }),
]
