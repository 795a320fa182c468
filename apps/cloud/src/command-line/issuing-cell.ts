// The cell that has the issuer keys, and the address at which other machines reach it.
import { Fault } from '@skerry/fault'

import type { CloudConfig } from '../config.ts'
import { readIssuers, type Issuers } from '../identity/issuers.ts'
import { namedBy } from '../identity/renew-cell.ts'

export async function requireIssuers({ identity }: CloudConfig): Promise<Issuers> {
  const issuers = await readIssuers(identity)
  if (issuers) return issuers
  throw new Fault('conflict', `the issuer keys are not in ${identity}`, {
    hint: 'run this on the machine where skerry admin init was run',
  })
}

/** The address at which other machines reach this cell's machine API: its public name if it listens on all addresses. */
export function reachable({ machines, base }: CloudConfig) {
  const isAny = machines.address === '::' || machines.address === '0.0.0.0'
  return { address: isAny ? namedBy(base) : machines.address, port: machines.port }
}
