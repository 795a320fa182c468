// A simulated cloud and Temporal for tests about neither: accounts that can change, grants, and runs that do nothing.
import { randomUUID } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { Json } from '@skerry/serverless-workflow'
import { type BasicCredentials } from '@skerry/service'

import type { Grants, Runs } from '../src/context.ts'
import type { AccountQueries } from '../src/http/authenticator.ts'
import type { WorkflowPrincipal } from '../src/identity/rights.ts'

export interface SimulatedCloud extends AccountQueries {
  readonly grants: Grants & { readonly alive: Set<string>; away: boolean }
  /** The number of password checks. */
  checks: number
  away: boolean
  add(principal: WorkflowPrincipal, password?: string): void
  disable(principal: WorkflowPrincipal): void
}

export const PASSWORD = 'secret'

export function simulatedCloud(): SimulatedCloud {
  const accounts = new Map<string, { principal: WorkflowPrincipal; password: string }>()
  const alive = new Set<string>()
  let stamp = 1
  const requireThere = () => {
    if (cloud.away) throw new Fault('unavailable', 'the cloud is not reachable')
  }
  const requireGrants = () => {
    if (cloud.grants.away) throw new Fault('unavailable', 'the cloud is not reachable')
  }
  const cloud: SimulatedCloud = {
    checks: 0,
    away: false,
    add(principal, password = PASSWORD) {
      accounts.set(`${principal.user}@${principal.orgName}`, { principal, password })
      stamp += 1
    },
    disable(principal) {
      accounts.delete(`${principal.user}@${principal.orgName}`)
      stamp += 1
    },
    async check({ user, org, password }: BasicCredentials) {
      requireThere()
      cloud.checks += 1
      const found = accounts.get(`${user}@${org}`)
      return found?.password === password ? found.principal : undefined
    },
    async stamp() {
      requireThere()
      return String(stamp)
    },
    grants: {
      alive,
      away: false,
      async ask({ id = randomUUID() }) {
        requireThere()
        requireGrants()
        alive.add(id)
        return id
      },
      async end(grant) {
        requireGrants()
        alive.delete(grant)
      },
    },
  }
  return cloud
}

export interface SimulatedRuns extends Runs {
  /** As if Temporal were down. */
  away: boolean
  readonly started: string[]
  readonly canceled: string[]
  readonly answered: (readonly [execution: string, interaction: string, by: string, answer: Json])[]
  readonly scheduled: Map<string, boolean>
}

export function simulatedRuns(): SimulatedRuns {
  const requireThere = async () => {
    if (runs.away) throw new Fault('unavailable', 'Temporal is not reachable')
  }
  const runs: SimulatedRuns = {
    away: false,
    started: [],
    canceled: [],
    answered: [],
    scheduled: new Map(),
    async start({ execution }) {
      await requireThere()
      runs.started.push(execution)
    },
    async cancel(execution) {
      await requireThere()
      runs.canceled.push(execution)
    },
    async answer(...reported) {
      await requireThere()
      runs.answered.push(reported)
    },
    async goesOn(execution) {
      await requireThere()
      return runs.started.includes(execution)
    },
    schedules: {
      async create({ id, paused }) {
        await requireThere()
        runs.scheduled.set(id, paused)
      },
      async pause(id, paused) {
        await requireThere()
        runs.scheduled.set(id, paused)
      },
      async delete(id) {
        await requireThere()
        runs.scheduled.delete(id)
      },
    },
  }
  return runs
}
