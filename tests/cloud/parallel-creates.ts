// Many clients send both cells a create of the same vApp at the same moment, with one key, round after round.
import assert from 'node:assert/strict'

import { until } from '@skerry/lab'
import { attribute } from '@skerry/xml'

import { taskOf, type CloudClient, type Reply } from '../../apps/cloud/test/cloud-client.ts'
import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { seededRandom, type SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'

const MOST = 50

export interface RoundsOptions {
  readonly cloud: SmallCloud
  readonly seed: number
  readonly rounds: number
  readonly say?: (line: string) => void
}

export interface RoundsFigures {
  readonly rounds: number
  readonly requests: number
  readonly created: number
  readonly conflicts: number
}

/** One key, and the names that are sent with it at once: all equal, or of two kinds. */
interface Round {
  readonly key: string
  readonly names: readonly string[]
}

/** Throws on any violation: a second vApp, a second task, a different response, a wrong conflict. */
export async function runRounds(options: RoundsOptions): Promise<RoundsFigures> {
  const { cloud, seed, rounds, say = () => undefined } = options
  const random = seededRandom(seed)
  const client = await cloud.logIn()
  const at = cloud.cells.map(({ url }) => client.at(url))
  const { vdc, template } = await client.start()
  const won: string[] = []
  let [requests, created, conflicts] = [0, 0, 0]
  for (let number = 0; number < rounds; number += 1) {
    const round = drawRound(random, number)
    const replies = await Promise.all(
      round.names.map((name, place) =>
        // The first cell in one round is the second in the next.
        instantiate(at[(place + number) % at.length] ?? client, { vdc, template }, name, round.key),
      ),
    )
    won.push(judge(round, replies))
    requests += replies.length
    created += replies.filter(({ status }) => status === 201).length
    conflicts += replies.filter(({ status }) => status === 409).length
    if ((number + 1) % 20 === 0) say(`${number + 1} of ${rounds} rounds, ${requests} requests`)
  }
  await assertMadeOnce(cloud, won)
  return { rounds, requests, created, conflicts }
}

/** Every second round includes another body. */
function drawRound(random: SeededRandom, number: number): Round {
  const all = 2 + Math.floor(random.between(0, MOST - 1))
  const others = number % 2 === 0 ? 0 : 1 + Math.floor(random.between(0, all - 1))
  const names = Array.from({ length: all }, (_, at) =>
    at < others ? `other-${number}` : `twin-${number}`,
  )
  const shuffled = names
    .map((name) => ({ name, at: random.between(0, 1) }))
    .toSorted((a, b) => a.at - b.at)
  return { key: `round-${number}`, names: shuffled.map(({ name }) => name) }
}

function instantiate(
  client: CloudClient,
  { vdc, template }: { readonly vdc: string; readonly template: string },
  name: string,
  key: string,
): Promise<Reply> {
  return client.ask('POST', `${vdc}/action/instantiateVAppTemplate`, {
    body: `<InstantiateVAppTemplateParams name="${name}" powerOn="false"><Source href="${template}"/></InstantiateVAppTemplateParams>`,
    headers: { 'idempotency-key': key },
  })
}

/** One body wins, whichever; all its senders get the same vApp and task, all others a conflict. Returns the winner's name. */
function judge({ key, names }: Round, replies: readonly Reply[]): string {
  const winners = new Set(names.filter((_, at) => replies[at]?.status === 201))
  assert.equal(winners.size, 1, `one body wins: ${replies.map(({ text }) => text).join('\n')}`)
  const [winner = ''] = winners
  const reported = new Set<string>()
  for (const [at, { status, text, root, headers }] of replies.entries()) {
    if (names[at] !== winner) {
      assert.equal(status, 409, text)
      assert.match(text, new RegExp(`the idempotency key ${key} was used for a different request`))
      continue
    }
    assert.equal(status, 201, text)
    assert.equal(headers['location'], attribute(root, 'href'))
    // Hrefs contain the public address of the cell that answered, which in this small cloud is a cell's own.
    const path = (href = '') => new URL(href).pathname
    const [name, href] = [attribute(root, 'name'), attribute(root, 'href')]
    reported.add(JSON.stringify([name, path(href), path(taskOf(root))]))
  }
  assert.equal(reported.size, 1, `not the same answer: ${[...reported].join(' ')}`)
  return winner
}

/** One vApp, one task and one VM for each round, in the rows and on the hosts. */
async function assertMadeOnce({ db, hosts }: SmallCloud, names: readonly string[]): Promise<void> {
  const read = () =>
    db
      .selectFrom('vapp')
      .innerJoin('task', 'task.vapp', 'vapp.id')
      .innerJoin('vm', 'vm.vapp', 'vapp.id')
      .select(['vapp.name', 'task.state', 'vm.id', 'vm.displayed_status'])
      .where('task.parent', 'is', null)
      .where('vapp.name', '~', '^(twin|other)-')
      .execute()
  const open = (state: string) => state === 'queued' || state === 'running'
  const within = 60_000 + names.length * 1000
  await until('all are made', async () => !(await read()).some(({ state }) => open(state)), within)
  const made = await read()
  assert.deepEqual(made.map(({ name }) => name).toSorted(), names.toSorted())
  for (const { name, state, displayed_status: shown, id } of made) {
    assert.deepEqual([state, shown], ['success', 'POWERED_OFF'], name)
    assert.equal(hosts.filter((host) => host.find(id)).length, 1, `${name} is on one host`)
  }
}
