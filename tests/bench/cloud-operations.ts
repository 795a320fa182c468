import { Agent } from 'node:https'

import { until } from '@skerry/lab'

import type { CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { startBareTemporal } from './bare-temporal-worker.ts'
import { compareAll, type Figure } from './figure.ts'
import { processorSeconds, serverSeconds } from './processor.ts'

/** More than the machine can execute at once, and within the limits of an organisation and a host. */
const VMS = 100
const HOSTS = 10
/** Concurrent requests. */
const LANES = 16

/**
 * Power commands to many VMs on simulated hosts, against the same number of baseline runs at the same Temporal server: per
 * second, and per CPU second, which other load of the machine does not affect. The CPU time of Temporal, Postgres, the worker,
 * the client and the hosts is counted.
 */
export async function benchOperations(pairs: number): Promise<Figure[]> {
  await using cloud = await startSmallCloud({ cells: 1, hosts: HOSTS, durable: true })
  await untilOpen(cloud.db, HOSTS)
  await using bare = await startBareTemporal(cloud.temporal)
  using agent = closing(new Agent({ keepAlive: true, maxSockets: LANES }))
  const client = (await cloud.logIn()).over(agent)
  const vms = await makeVms(cloud, client)
  let isOn = false
  const measure = async (worker: number, work: () => Promise<void>) => {
    const spent = () => secondsOf(cloud, worker)
    const [begun, before] = [performance.now(), spent()]
    await work()
    const [ms, after] = [performance.now() - begun, spent()]
    log(ms, before, after)
    return [(VMS / ms) * 1000, VMS / (sum(after) - sum(before))]
  }
  return await compareAll(
    [
      { name: `${VMS} power operations at once`, unit: 'operations/s', atLeast: 0.7 },
      { name: `${VMS} power operations at once`, unit: 'operations/CPU s', atLeast: 0.7 },
    ],
    pairs,
    async () => {
      isOn = !isOn
      const path = `power/action/${isOn ? 'powerOn' : 'powerOff'}`
      return measure(cloud.cells[0]?.pid ?? 0, async () => {
        await inLanes(vms, (vm) => demand(client, `/api/vApp/vm-${vm}/${path}`))
        await allEnded(cloud)
      })
    },
    () => measure(bare.pid, () => bare.carryOut(VMS, LANES)),
  )
}

type Seconds = Readonly<Record<'worker' | 'temporal' | 'postgres' | 'client', number>>

const secondsOf = ({ temporal, postgres }: SmallCloud, worker: number): Seconds => ({
  worker: processorSeconds(worker),
  temporal: processorSeconds(temporal.pid),
  postgres: serverSeconds(postgres.pid),
  // The client and the simulated hosts.
  client: processorSeconds(process.pid),
})

const sum = (seconds: Seconds): number =>
  Object.values(seconds).reduce((all, each) => all + each, 0)

/** CPU milliseconds per operation by process, for profiling. */
function log(ms: number, before: Seconds, after: Seconds): void {
  if (!process.argv.includes('--verbose')) return
  const each = (Object.keys(after) as (keyof Seconds)[]).map(
    (name) => `${name} ${(((after[name] - before[name]) / VMS) * 1000).toFixed(1)}`,
  )
  console.error(`${(ms / VMS).toFixed(1)} ms each; of processors: ${each.join(', ')}`)
}

async function makeVms(cloud: SmallCloud, client: CloudClient): Promise<readonly string[]> {
  const { vdc, template } = await client.start()
  const names = Array.from({ length: VMS }, (_, number) => `probe-${number}`)
  await inLanes(names, async (name) => {
    const body = `<InstantiateVAppTemplateParams name="${name}" powerOn="false"><Source href="${template}"/></InstantiateVAppTemplateParams>`
    await demand(client, `${vdc}/action/instantiateVAppTemplate`, body)
  })
  await allEnded(cloud)
  const rows = await cloud.db.selectFrom('vm').select('id').execute()
  return rows.map(({ id }) => id)
}

async function demand(client: CloudClient, where: string, body?: string): Promise<void> {
  const { status, text } = await client.ask('POST', where, body === undefined ? {} : { body })
  if (status !== 201 && status !== 202) throw new Error(`POST ${where}: ${status} ${text}`)
}

/** All have ended with success: a failed operation would be a quick one. */
async function allEnded({ db }: SmallCloud): Promise<void> {
  const count = async (...states: ('queued' | 'running' | 'error' | 'canceled')[]) => {
    const found = await db.selectFrom('task').select('id').where('state', 'in', states).execute()
    return found.length
  }
  await until('all tasks have ended', async () => (await count('queued', 'running')) === 0, 120_000)
  const failed = await count('error', 'canceled')
  if (failed > 0) throw new Error(`${failed} operations failed`)
}

async function inLanes<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const lane = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) await work(each)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

const closing = (agent: Agent): Agent & Disposable =>
  Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() })
