// What only a cell that has the issuers' keys can do for other machines, and how they reach it.
import { Fault } from '@skerry/fault'

import type { Config } from '../config.ts'
import { readIssuers, type Issuers } from '../identity/issuers.ts'
import { namedBy } from '../identity/renew-cell.ts'

export async function requireIssuers({ identity }: Config): Promise<Issuers> {
  const issuers = await readIssuers(identity)
  if (issuers) return issuers
  throw new Fault('conflict', `the keys of the issuers are not in ${identity}`, {
    hint: 'run this on the machine where skerry cloud init was run',
  })
}

/** Where other machines reach this cell's door: by its public name where it listens everywhere. */
export function reachable({ machines, base }: Config) {
  const isAny = machines.address === '::' || machines.address === '0.0.0.0'
  return { address: isAny ? namedBy(base) : machines.address, port: machines.port }
}
