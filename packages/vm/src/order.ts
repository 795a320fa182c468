import type { TaskId, VmId } from './id.ts'
import type { PowerState } from './power.ts'

/**
 * Makes a step safe to send twice and safe to arrive late (docs/design/consistency.md). A host executes a
 * key once and repeats its first result; it rejects a lower fencing token forever.
 */
export interface Order {
  readonly vm: VmId
  readonly task: TaskId
  /** Task and step, the same in every attempt. */
  readonly key: string
  /** The fencing token: identifies the claim of the task. Decimal; a lower one is rejected forever. */
  readonly fencingToken: string
  /** The incarnation of the VM: it increases when the VM is created again or moved. Decimal. */
  readonly incarnation: string
  /** The power states in which it may start; undefined if any. */
  readonly from?: readonly PowerState[]
}
