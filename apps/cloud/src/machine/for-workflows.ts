import type { RequestListener } from 'node:http'

import { Fault } from '@skerry/fault'

import type { CheckCredentials } from '../identity/credentials.ts'
import type { MachineWorld } from './server.ts'

/** What workflow servers are answered with: the passwords that the tenants' door knows, and its API. */
export interface ForWorkflows {
  readonly check: CheckCredentials
  /** The tenants' API, in the name of who started a run. */
  readonly api: RequestListener
}

export function forWorkflows(world: MachineWorld): ForWorkflows {
  const given = world.forWorkflows?.()
  if (given) return given
  throw new Fault('unavailable', 'this cell is not up yet')
}
