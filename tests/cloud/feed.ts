// Twenty concurrent writers and one reader of all their events.
import assert from 'node:assert/strict'

import { until } from '@skerry/lab'
import type { OrgId } from '@skerry/vm'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { taskOf } from '../../apps/cloud/test/cloud-client.ts'
import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { create } from './callers.ts'
import { FeedReader } from './feed-reader.ts'

const WRITERS = 20
const COMMANDS = 4

/** Throws if the reader misses an event, sees one twice, or sees them out of order. */
export async function readUnderWriters(cloud: SmallCloud, seed: number) {
  const client = await cloud.logIn()
  const at = cloud.cells.map(({ url }) => client.at(url))
  const start = await client.start()
  const before = (await idsOf(cloud)).length
  await using reader = new FeedReader(at, '0-0', seededRandom(seed))
  const write = async (writer: number): Promise<void> => {
    const cell = at[writer % at.length] ?? client
    const made = await create(cell, start, `writer-${writer}`)
    assert.equal(made.status, 201, made.text)
    const vm = vmOf(made.root)
    const tasks = [taskOf(made.root)]
    for (let n = 0; n < COMMANDS; n += 1) {
      const turn = n % 2 === 0 ? 'powerOn' : 'powerOff'
      const { status, text, root } = await cell.ask('POST', `${vm}/power/action/${turn}`)
      assert.equal(status, 202, text)
      tasks.push(taskOf(root))
    }
    await untilEnded(cloud, tasks)
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  let written: readonly string[] = []
  // Read again each time: the cloud itself may have emitted events since.
  const isRead = async () => {
    written = await idsOf(cloud)
    return reader.seen.length === written.length
  }
  await until('all is read', isRead, 60_000).catch(() => undefined)
  assert.deepEqual(reader.seen, written)
  assert.ok(reader.links > 10, `${reader.links} links`)
  return { writers: WRITERS, before, events: written.length, links: reader.links }
}

async function idsOf({ db, eventCursors }: SmallCloud): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('event')
    .select(['tx', 'seq', 'org'])
    .where('org', 'is not', null)
    .orderBy('tx')
    .orderBy('seq')
    .execute()
  return rows.map((row) => eventCursors(row.org as OrgId).write(row))
}

function vmOf(vapp: Parameters<typeof taskOf>[0]): string {
  const [children] = childrenByLocalName(vapp, 'Children')
  return attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
}

async function untilEnded({ db }: SmallCloud, tasks: readonly string[]): Promise<void> {
  const ids = tasks.map((href) => href.slice(-36) as never)
  const open = () =>
    db
      .selectFrom('task')
      .select('id')
      .where('id', 'in', ids)
      .where('ended_at', 'is', null)
      .execute()
  await until('they end', async () => (await open()).length === 0, 120_000)
}
