import type { TaskId, VmId } from './id.ts'
import type { PowerState } from './power.ts'

/**
 * What makes a step safe to send twice and safe to arrive late (docs/operations.md). A host
 * does a key once and answers it again with the first result; it refuses a lower number for ever.
 */
export interface Order {
  readonly vm: VmId
  readonly task: TaskId
  /** Task and step, the same in every attempt. */
  readonly key: string
  /** Which claim of the task. Decimal; a lower one is refused for ever. */
  readonly number: string
  /** Which life of the VM: made again or moved is another. Decimal. */
  readonly incarnation: string
  /** The states in which it may begin; undefined where none is needed. */
  readonly from?: readonly PowerState[]
}
