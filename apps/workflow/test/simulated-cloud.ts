// What the cloud and Temporal would say, where a test is about neither: accounts that can change, grants, and runs that only stand there.
import { randomUUID } from 'node:crypto'

import { Fault } from '@skerry/fault'

import type { Json } from '../src/durable/verbs.ts'
import type { Credentials } from '../src/http/basic.ts'
import type { Accounts } from '../src/http/who.ts'
import type { Who } from '../src/identity/rights.ts'
import type { Grants, Runs } from '../src/world.ts'

export interface SimulatedCloud extends Accounts {
  readonly grants: Grants & { readonly alive: Set<string> }
  /** How often passwords were checked. */
  checks: number
  away: boolean
  add(who: Who, password?: string): void
  disable(who: Who): void
}

export const PASSWORD = 'secret'

export function simulatedCloud(): SimulatedCloud {
  const accounts = new Map<string, { who: Who; password: string }>()
  const alive = new Set<string>()
  let stamp = 1
  const requireThere = () => {
    if (cloud.away) throw new Fault('unavailable', 'the cloud does not answer')
  }
  const cloud: SimulatedCloud = {
    ...{ checks: 0, away: false },
    add(who, password = PASSWORD) {
      accounts.set(`${who.user}@${who.orgName}`, { who, password })
      stamp += 1
    },
    disable(who) {
      accounts.delete(`${who.user}@${who.orgName}`)
      stamp += 1
    },
    async check({ user, org, password }: Credentials) {
      requireThere()
      cloud.checks += 1
      const found = accounts.get(`${user}@${org}`)
      return found?.password === password ? found.who : undefined
    },
    async stamp() {
      requireThere()
      return String(stamp)
    },
    grants: {
      alive,
      async ask() {
        requireThere()
        const id = randomUUID()
        alive.add(id)
        return id
      },
      async end(grant) {
        alive.delete(grant)
      },
    },
  }
  return cloud
}

export interface SimulatedRuns extends Runs {
  /** Like Temporal that is down. */
  away: boolean
  readonly started: string[]
  readonly canceled: string[]
  readonly answered: (readonly [execution: string, interaction: string, by: string, answer: Json])[]
  readonly scheduled: Map<string, boolean>
}

export function simulatedRuns(): SimulatedRuns {
  const requireThere = async () => {
    if (runs.away) throw new Fault('unavailable', 'the engine that runs workflows does not answer')
  }
  const runs: SimulatedRuns = {
    ...{ away: false, started: [], canceled: [], answered: [], scheduled: new Map() },
    async start({ execution }) {
      await requireThere()
      runs.started.push(execution)
    },
    async cancel(execution) {
      await requireThere()
      runs.canceled.push(execution)
    },
    async answer(...told) {
      await requireThere()
      runs.answered.push(told)
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
