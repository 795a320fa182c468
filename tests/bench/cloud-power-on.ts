import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { requirePrograms, startLab, until, type LabCloud } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startBare } from './bare.ts'
import { compare, type Figure } from './figure.ts'

const NAME = 'probe'
/** The polling interval of the query: the result is late by half of this, and a poll costs a few milliseconds of one CPU. */
const LOOK_MS = 10

/**
 * From the request to POWERED_ON in the query, against libvirt alone starting the same domain on the same host. Both times the
 * guest is powered off before it has booted, so that only the start differs.
 */
export async function benchPowerOn(pairs: number): Promise<Figure[]> {
  requirePrograms('host', 'small', 'cloud', 'bench')
  await using dir = await mkdtempDisposable(join(tmpdir(), 'bench-'))
  await using lab = await startLab({ dir: join(dir.path, 'lab'), hosts: 1, cells: 1 })
  const [host] = lab.hosts
  if (!host || !lab.cloud) throw new Error('the lab has no host or no cloud')
  await using bare = startBare((command, options) => host.spawn(command, options))
  using agent = closing(new Agent({ keepAlive: true }))
  const client = (await logIn(lab.cloud)).over(agent)
  const made = await client.instantiate(NAME, { power: false })
  await succeed(client, made.root)
  const vapp = attribute(made.root, 'href') ?? ''
  const [children] = childrenByLocalName(await client.get(vapp), 'Children')
  const vm = attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
  const domain = `cloud-${vm.slice(-36)}`
  const demand = async (action: string) => {
    const reply = await client.ask('POST', `${vm}/power/action/${action}`)
    if (reply.status !== 202) throw new Error(`${action}: ${reply.status} ${reply.text}`)
    return reply.root
  }
  const figure = await compare(
    { name: 'power on to POWERED_ON in the query', unit: 'ms', atMost: 1.3, orMoreBy: 150 },
    pairs,
    async () => {
      const begun = performance.now()
      const task = await demand('powerOn')
      await shows(client, 'POWERED_ON')
      const ms = performance.now() - begun
      await succeed(client, task)
      await succeed(client, await demand('powerOff'))
      await shows(client, 'POWERED_OFF')
      return ms
    },
    async () => {
      const seconds = await bare.ask('powerOn', domain)
      await shows(client, 'POWERED_ON')
      await bare.ask('destroy', domain)
      await shows(client, 'POWERED_OFF')
      return seconds * 1000
    },
  )
  return [figure]
}

async function logIn({ url, ca, tenants: [principal] }: LabCloud): Promise<CloudClient> {
  if (!principal) throw new Error('the cloud has no tenant')
  return CloudClient.logIn(
    url,
    readFileSync(ca, 'utf8'),
    `${principal.user}@${principal.org}`,
    principal.password,
  )
}

async function succeed(client: CloudClient, root: Parameters<typeof taskOf>[0]): Promise<void> {
  const task = await client.ended(taskOf(root), 120_000)
  const status = attribute(task, 'status')
  if (status !== 'success') throw new Error(`the task ended with ${status}`)
}

async function shows(client: CloudClient, status: string): Promise<void> {
  const where = `/api/query?type=vm&filter=containerName==${NAME}&fields=status`
  await until(
    `the query shows ${status}`,
    async () => {
      const root = await client.get(where)
      if (attribute(childrenByLocalName(root, 'VMRecord')[0], 'status') === status) return true
      await sleep(LOOK_MS)
      return false
    },
    60_000,
  )
}

const closing = (agent: Agent): Agent & Disposable =>
  Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() })
