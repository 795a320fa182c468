import { Fault } from '@skerry/fault'

import type { ForWorkflows, MachineContext } from './context.ts'

export function forWorkflows(context: MachineContext): ForWorkflows {
  const given = context.forWorkflows?.()
  if (given) return given
  throw new Fault('unavailable', 'this cell is still starting')
}
