/**
 * What a task does to the life of its VM: `copy` creates it from a source VM, `hold` keeps the place of copies in the queue of the
 * source. Claims, ends and lost hosts depend on the kind of a task, not on the name of its operation.
 */
export type VmTaskKind = 'change' | 'create' | 'copy' | 'hold' | 'delete'

/** Whether the VM exists on a host only after it. */
export const begins = (kind: VmTaskKind): boolean => kind === 'create' || kind === 'copy'
