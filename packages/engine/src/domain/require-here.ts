import { Fault } from '@skerry/fault'

import type { Host } from '../host/host.ts'
import type { VmRecord } from '../host/record.ts'

/** Rejects an operation on a VM that another host may have. */
export function requireHere(host: Host, record: VmRecord): void {
  const departing = host.moves.departureOf(record)
  if (!departing) return
  const { to } = departing
  throw new Fault(
    'unavailable',
    `VM ${record.id} is moving to ${to}, which has not confirmed yet`,
    {
      hint: `retry once this host can reach ${to}`,
    },
  )
}
