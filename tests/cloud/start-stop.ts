// One vApp of two VMs gets a start and a stop at the same moment, from two cells, round after round.
import assert from 'node:assert/strict'

import { until } from '@skerry/lab'
import type { TaskId, VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'

import type { VappId } from '../../apps/cloud/src/domain/ids.ts'
import { instantiate } from '../../apps/cloud/src/operations/vapp-operations.ts'
import { submitTogether } from '../../apps/cloud/src/tasks/submit-task.ts'
import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

export interface StartStopFigures {
  readonly rounds: number
  readonly startedLast: number
  readonly stoppedLast: number
}

/** Throws if a task does not end, or if the VMs differ after the later task has succeeded. */
export async function runStartStop(cloud: SmallCloud, rounds: number): Promise<StartStopFigures> {
  const { vapp, vms } = await makePair(cloud)
  const client = await cloud.logIn()
  const at = cloud.cells.map(({ url }) => client.at(url))
  const figures = { rounds, startedLast: 0, stoppedLast: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const replies = await Promise.all(
      ['powerOn', 'powerOff'].map((name, place) => {
        const cell = at[(place + round) % at.length] ?? client
        return cell.ask('POST', `/api/vApp/vapp-${vapp}/power/action/${name}`)
      }),
    )
    for (const { status, text } of replies) assert.equal(status, 202, text)
    const ids = replies.map(({ root }) => attribute(root, 'href')?.slice(-36) as TaskId)
    await untilEnded(cloud, ids)
    const later = await laterOf(cloud, ids)
    assert.equal(later.state, 'success', `round ${round}: ${later.message}`)
    const started = later.operation === 'powerOn'
    const shown = await cloud.db
      .selectFrom('vm')
      .select('displayed_status')
      .where('vapp', '=', vapp)
      .execute()
    const status = started ? 'POWERED_ON' : 'POWERED_OFF'
    assert.deepEqual(
      new Set(shown.map((vm) => vm.displayed_status)),
      new Set([status]),
      `round ${round}`,
    )
    const powers = vms.map((vm) => cloud.hosts.map((host) => host.find(vm)?.power).find(Boolean))
    const power = started ? 'on' : 'off'
    assert.deepEqual(new Set(powers), new Set([power]), `round ${round}: the hosts agree`)
    figures[started ? 'startedLast' : 'stoppedLast'] += 1
  }
  return figures
}

/** A template has one VM, so the rows of two are written as the request writes them, and created by the same tasks. */
async function makePair(cloud: SmallCloud): Promise<{ vapp: VappId; vms: readonly VmId[] }> {
  const { db } = cloud
  const made = await db.transaction().execute(async (tx) => {
    const vdc = await tx.selectFrom('vdc').selectAll().executeTakeFirstOrThrow()
    const { org } = vdc
    const { image } = await tx.selectFrom('template').selectAll().executeTakeFirstOrThrow()
    const { id: vapp } = await tx
      .insertInto('vapp')
      .values({ org, vdc: vdc.id, name: 'pair', owner: 'alice' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const sizes = { cpus: 1, memory_mib: 64, disk_mib: 64 }
    const rows = ['a', 'b'].map((name, at) => ({
      org,
      vapp,
      name,
      start_order: at,
      image,
      ...sizes,
    }))
    await tx.insertInto('vm').values(rows).execute()
    const submitted = await submitTogether(tx, instantiate({ power: false }), {
      vapp,
      owner: 'alice',
    })
    return { ...submitted, vapp }
  })
  await untilEnded(cloud, [made.task.id])
  return { vapp: made.vapp, vms: made.vms }
}

async function untilEnded({ db }: SmallCloud, ids: readonly TaskId[]): Promise<void> {
  const ended = async () => {
    const left = await db
      .selectFrom('task')
      .select('id')
      .where('id', 'in', ids)
      .where('ended_at', 'is', null)
      .execute()
    return left.length === 0
  }
  await until(`tasks ${ids.join(', ')} end`, ended, 60_000)
}

/** The task whose children come after those of the other, in both queues. */
async function laterOf({ db }: SmallCloud, ids: readonly TaskId[]) {
  const parts = await db
    .selectFrom('task')
    .select(['parent', 'position', 'vm', 'state'])
    .where('parent', 'in', ids)
    .orderBy('position')
    .execute()
  assert.ok(parts.every(({ state }) => state !== 'queued' && state !== 'running'))
  const last = Map.groupBy(parts, ({ vm }) => vm)
    .values()
    .map((queue) => queue.at(-1)?.parent)
  const [later, ...others] = new Set(last)
  assert.ok(later !== null && later !== undefined && others.length === 0, 'one order for both VMs')
  return db.selectFrom('task').selectAll().where('id', '=', later).executeTakeFirstOrThrow()
}
