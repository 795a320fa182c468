// An administrator of an organisation who creates, changes and deletes networks while parts of the cloud are killed.
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'
import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { CloudClient, taskOf } from '../../../apps/cloud/test/cloud-client.ts'
import { insist, type Asking, type Question } from './insist.ts'
import type { Accepted } from './lane.ts'
import type { Place } from './place.ts'

const LOOK_MS = 300
const ADMINISTRATOR = {
  user: 'nora',
  password: 'networks of the storm',
  role: 'organisation administrator',
} as const

export interface NetworkLane extends Asking {
  readonly db: Place['db']
  readonly vdc: string
  readonly accepted: Accepted[]
  readonly take: () => Promise<boolean>
  readonly patienceMs: number
}

/** A client with the right to change networks of the first tenant. */
export async function logInAdministrator({ cloud }: Place, ca: string): Promise<CloudClient> {
  const [tenant] = cloud.tenants
  if (!tenant) throw new Error('a storm needs a tenant')
  const { user, password, role } = ADMINISTRATOR
  const name = `${user}@${tenant.org}`
  await cloud.administer(['user', 'create', name, '--role', role], password)
  return CloudClient.logIn(cloud.url, ca, name, password)
}

/** Network after network: created, given other name servers, deleted. Each must succeed, whatever is killed. */
export async function runNetworkLane(lane: NetworkLane): Promise<void> {
  let asked = 0
  const submit = async (question: Omit<Question, 'key'>, status: number) => {
    const key = `networks/${(asked += 1)}`
    const reply = await insist(lane, { ...question, key })
    const what = `${question.method} ${question.path}`
    if (reply.status !== status) throw new Error(`${what}: ${reply.status} ${reply.text}`)
    const task = await storedTask(lane, key)
    // A document names its task only while it runs.
    const named = taskOf(reply.root)
    if (named !== '' && !named.endsWith(task))
      throw new Error(`${what} named ${named}, not ${task}`)
    lane.accepted.push({ key, what, task })
    // Without waiting for the task in every third case: the next change meets this one.
    if (lane.chance.between(0, 1) < 0.66) await untilEnded(lane, task)
    return reply
  }
  for (let number = 0; await lane.take(); number += 1) {
    const path = `${lane.vdc.replace('/api/vdc/', '/api/admin/vdc/')}/networks`
    const routed = lane.chance.between(0, 1) < 0.5
    const made = await submit({ method: 'POST', path, body: documentOf(number, routed) }, 201)
    const network = (attribute(made.root, 'href') ?? '').replace(
      '/api/network/',
      '/api/admin/network/',
    )
    if (await lane.take()) {
      const body = documentOf(number, routed, '<Dns1>192.0.2.53</Dns1>')
      await submit({ method: 'PUT', path: network, body }, 202)
    }
    await submit({ method: 'DELETE', path: network }, 202)
  }
}

const documentOf = (number: number, routed: boolean, more = ''): string => {
  const gateway = `172.16.${number % 256}.1`
  const scope = `<Gateway>${gateway}</Gateway><Netmask>255.255.255.0</Netmask>${more}`
  const fence = `<FenceMode>${routed ? 'natRouted' : 'isolated'}</FenceMode>`
  return `<OrgVdcNetwork name="net-${number}"><Configuration><IpScopes><IpScope>${scope}</IpScope></IpScopes>${fence}</Configuration></OrgVdcNetwork>`
}

/** The database may be down. */
const storedTask = ({ db, patienceMs }: NetworkLane, key: string): Promise<string> =>
  until(
    `the request ${key} is stored`,
    async () => {
      const rows = await db
        .selectFrom('request_key')
        .select('task')
        .where('key', '=', key)
        .execute()
        .catch(() => [])
      return rows[0]?.task
    },
    patienceMs,
  )

async function untilEnded({ db, patienceMs }: NetworkLane, task: string): Promise<void> {
  const isEnded = async () => {
    const { rows } = await sql<{ state: string }>`select state from task where id = ${task}`
      .execute(db)
      .catch(() => ({ rows: [] }))
    if (rows[0] && !['queued', 'running'].includes(rows[0].state)) return true
    await sleep(LOOK_MS)
    return false
  }
  await until(`task ${task} ends`, isEnded, patienceMs)
}
