// One tenant's client: vApp after vApp is created, powered and deleted, sometimes without waiting for the previous task.
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { statusNumber, type DisplayedStatus } from '../../../apps/cloud/src/domain/vm-status.ts'
import { taskOf, type Reply } from '../../../apps/cloud/test/cloud-client.ts'
import { insist, type Asking } from './insist.ts'

const LOOK_MS = 300

/** Accepted requests, with the task that the response named. */
export interface Accepted {
  readonly key: string
  readonly what: string
  readonly task: string
}

export interface Lane extends Asking {
  readonly name: string
  readonly template: string
  readonly vdc: string
  readonly accepted: Accepted[]
  readonly refused: string[]
  /** Takes one of the remaining operations, when it is due; false if none is left. */
  readonly take: () => Promise<boolean>
  readonly giveBack: () => void
  /** The maximum delay of a task by the current faults. */
  readonly patienceMs: number
  /** Its current vApp. */
  held?: Held | undefined
}

type Power = 'POWERED_ON' | 'POWERED_OFF' | 'SUSPENDED'

export interface Held {
  readonly vapp: string
  readonly vm: string
  /** The state after all requests, if none fails. */
  leads: DisplayedStatus
  readonly tasks: string[]
}

const choices: Readonly<Record<Power, readonly [string, ...string[]]>> = {
  POWERED_OFF: ['powerOn', 'powerOn', 'powerOn', 'delete'],
  POWERED_ON: ['powerOff', 'powerOff', 'suspend', 'reset', 'reset'],
  SUSPENDED: ['powerOn', 'powerOn', 'delete'],
}
const leadsTo: Readonly<Record<string, Power | undefined>> = {
  powerOn: 'POWERED_ON',
  powerOff: 'POWERED_OFF',
  suspend: 'SUSPENDED',
}

export async function runLane(lane: Lane): Promise<void> {
  for (let number = 0; await lane.take(); number += 1) {
    const { held } = lane
    if (!held) {
      lane.held = await instantiate(lane, `${lane.name}-${number}`)
      continue
    }
    // A request without an expected state is waited for, and the actual state is read.
    if (!(held.leads in choices)) held.leads = await settled(lane, held)
    const what = held.leads in choices ? lane.chance.pick(choices[held.leads as Power]) : 'delete'
    const reply = await ask(lane, held, what)
    if (!reply) {
      lane.giveBack()
      held.leads = await settled(lane, held)
      continue
    }
    held.leads = leadsTo[what] ?? held.leads
    if (what === 'delete') {
      const ended = await untilEnded(lane, taskOf(reply.root))
      if (ended === 'success') lane.held = undefined
      else held.leads = 'UNRESOLVED'
    } else if (lane.chance.between(0, 1) < 0.6) {
      if ((await untilEnded(lane, taskOf(reply.root))) !== 'success') held.leads = 'UNRESOLVED'
    }
  }
}

/** Nothing of the lane is left when this returns. */
export async function clearAway(lane: Lane): Promise<void> {
  const { held } = lane
  if (!held) return
  const wants = (await settled(lane, held)) === 'POWERED_ON' ? ['powerOff', 'delete'] : ['delete']
  for (const what of wants) {
    const reply = await ask(lane, held, what)
    const ended = reply && (await untilEnded(lane, taskOf(reply.root)))
    if (ended !== 'success')
      throw new Error(`${what} ${held.vapp}: ${ended ?? lane.refused.at(-1)}`)
  }
  lane.held = undefined
}

async function instantiate(lane: Lane, name: string): Promise<Held> {
  const power = lane.chance.between(0, 1) < 0.7
  const body = `<InstantiateVAppTemplateParams name="${name}" powerOn="${power}"><Source href="${lane.template}"/></InstantiateVAppTemplateParams>`
  const path = `${lane.vdc}/action/instantiateVAppTemplate`
  const reply = await accept(lane, `instantiate ${name}`, path, body)
  if (!reply) throw new Error(`${name} was refused: ${lane.refused.at(-1)}`)
  const vapp = attribute(reply.root, 'href') ?? ''
  const [children] = childrenByLocalName(await read(lane, vapp), 'Children')
  const vm = attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
  const tasks = [taskOf(reply.root)]
  return { vapp, vm, leads: power ? 'POWERED_ON' : 'POWERED_OFF', tasks }
}

async function ask(lane: Lane, held: Held, what: string): Promise<Reply | undefined> {
  const whole = what === 'delete' || lane.chance.between(0, 1) < 0.4
  const entity = whole ? held.vapp : held.vm
  const reply =
    what === 'delete'
      ? await accept(lane, `${what} ${entity}`, entity)
      : await accept(lane, `${what} ${entity}`, `${entity}/power/action/${what}`, '')
  if (reply) held.tasks.push(taskOf(reply.root))
  return reply
}

/** Submits a task. Some requests are sent twice, as by a client that lost the response: both must return the same task. */
async function accept(
  lane: Lane,
  what: string,
  path: string,
  body?: string,
): Promise<Reply | undefined> {
  const key = `${lane.name}/${lane.accepted.length + lane.refused.length}`
  const method = body === undefined ? 'DELETE' : 'POST'
  const question = { method, path, key, ...(body !== undefined && { body }) } as const
  const reply = await insist(lane, question)
  if (reply.status !== 201 && reply.status !== 202) {
    lane.refused.push(`${what}: ${reply.status} ${reply.text}`)
    if (reply.status === 409) return undefined
    throw new Error(`${what}: ${reply.status} ${reply.text}`)
  }
  const task = taskOf(reply.root)
  lane.accepted.push({ key, what, task })
  if (lane.chance.between(0, 1) < 0.25) {
    const again = await insist(lane, question)
    if (again.status !== reply.status || taskOf(again.root) !== task) {
      throw new Error(
        `${what} asked for again: ${again.status} ${again.text}; first it was ${task}`,
      )
    }
  }
  return reply
}

async function read(lane: Lane, path: string) {
  const { status, text, root } = await insist(lane, { method: 'GET', path })
  if (status !== 200 || !root) throw new Error(`GET ${path}: ${status} ${text}`)
  return root
}

async function untilEnded(lane: Lane, task: string): Promise<string> {
  return until(
    `task ${task} ends`,
    async () => {
      const status = attribute(await read(lane, task), 'status') ?? ''
      if (['success', 'error', 'canceled'].includes(status)) return status
      await sleep(LOOK_MS)
      return undefined
    },
    lane.patienceMs,
  )
}

/** The state of the VM once no task is open and its host is reachable. */
async function settled(lane: Lane, { vm, tasks }: Held): Promise<DisplayedStatus> {
  for (const task of tasks) await untilEnded(lane, task)
  const words = new Map(Object.entries(statusNumber).map(([word, number]) => [number, word]))
  return until(
    `${vm} is seen`,
    async () => {
      const root = await read(lane, vm)
      const status = words.get(Number(attribute(root, 'status')) as 0) as DisplayedStatus
      const open = childrenByLocalName(root, 'Tasks').length > 0
      if (status !== 'UNKNOWN' && !open) return status
      await sleep(LOOK_MS)
      return undefined
    },
    lane.patienceMs,
  )
}
