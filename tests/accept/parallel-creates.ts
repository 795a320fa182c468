// Many clients create the same VM at the same moment, round after round.
import assert from 'node:assert/strict'

import type { LabHost } from '@skerry/lab'

import { seededRandom, type SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { readDomains } from '../faults/domains.ts'
import { leftovers } from '../faults/leftovers.ts'
import { curlOn } from './curl.ts'
import { asBytes, sendRaw } from './hostile.ts'
import type { RawAnswer } from './raw-requests.ts'

const MOST = 50
const PARENT = 'parent'

export interface RoundsOptions {
  readonly host: LabHost
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

/** One id, and the concurrent requests for it: all equal, or of two kinds. */
interface Round {
  readonly id: string
  readonly bodies: readonly string[]
}

/** Needs a vmd with a template on the host, and leaves it without VMs. Throws on any violation. */
export async function runRounds(options: RoundsOptions): Promise<RoundsFigures> {
  const { host, seed, rounds, say = () => undefined } = options
  const { get, post, remove } = curlOn(() => host)
  const random = seededRandom(seed)
  let [requests, created, conflicts] = [0, 0, 0]
  assert.equal((await post('/api/vms', { id: PARENT })).status, 201)
  for (let number = 0; number < rounds; number++) {
    const round = drawRound(random, number)
    const { id, bodies } = round
    const answers = await askAtOnce(host, bodies)
    const winner = judge(round, answers)
    assert.deepEqual(
      (await get('/api/vms')).body,
      [id, PARENT].sort(),
      'exactly one VM was created',
    )
    const domains = (await readDomains(host)).map((domain) => domain.id)
    assert.deepEqual(domains.sort(), [id, PARENT].sort(), 'libvirt has exactly one domain for it')
    const [row] = (await get(`/api/vms?view=full&id=${id}`)).body as { name: string }[]
    assert.equal(row?.name, (JSON.parse(winner) as { name: string }).name)
    assert.equal((await remove(`/api/vms/${id}`)).status, 204)
    requests += bodies.length
    created += answers.filter(({ status }) => status === 201).length
    conflicts += answers.filter(({ status }) => status === 409).length
    if ((number + 1) % 20 === 0) say(`${number + 1} of ${rounds} rounds, ${requests} requests`)
  }
  assert.equal((await remove(`/api/vms/${PARENT}`)).status, 204)
  assert.deepEqual(await leftovers(host, []), [])
  return { rounds, requests, created, conflicts }
}

/** Every second round includes another body, every fourth uses clones. */
function drawRound(random: SeededRandom, number: number): Round {
  const id = `twin-${number}`
  const all = 2 + Math.floor(random.between(0, MOST - 1))
  const others = number % 2 === 0 ? 0 : 1 + Math.floor(random.between(0, all - 1))
  const parent = number % 4 < 2 ? {} : { parentid: PARENT }
  const bodyOf = (name: string) => JSON.stringify({ id, name, ...parent })
  const bodies = Array.from({ length: all }, (_, at) => bodyOf(at < others ? 'other' : 'one'))
  return { id, bodies: shuffled(bodies, random) }
}

function shuffled<T>(all: readonly T[], random: SeededRandom): T[] {
  return all
    .map((each) => ({ each, at: random.between(0, 1) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each)
}

/** Each on its own connection, all of them open before the first response. */
function askAtOnce(host: LabHost, bodies: readonly string[]): Promise<readonly RawAnswer[]> {
  const requests = bodies.map((body) =>
    asBytes(['POST', '/api/vms', body], 'Host: 127.0.0.1:8080\r\n'),
  )
  return sendRaw(host, { requests, parallel: requests.length })
}

/** One body wins, whichever; all its senders get the same response byte for byte, all others a conflict. Returns the winner. */
function judge({ id, bodies }: Round, answers: readonly RawAnswer[]): string {
  const winners = new Set(bodies.filter((_, at) => answers[at]?.status === 201))
  assert.equal(winners.size, 1, `one body wins: ${JSON.stringify(answers)}`)
  const [winner = ''] = winners
  const { name } = JSON.parse(winner) as { name: string }
  const [first = '', ...rest] = new Set(
    answers.filter((_, at) => bodies[at] === winner).map(({ head, body }) => undated(head) + body),
  )
  assert.deepEqual(rest, [], `not the same answer as ${first}`)
  assert.match(first, new RegExp(`^HTTP/1\\.1 201 .*\\r\\nlocation: /api/vms/${id}\\r\\n`, 's'))
  assert.ok(first.endsWith(JSON.stringify({ id, name, tag: '' })), first)
  for (const [at, { status, body }] of answers.entries()) {
    if (bodies[at] === winner) continue
    assert.equal(status, 409, body)
    assert.match(body, /^\{"code":409,"message":"VM \S+ already exists/)
  }
  return winner
}

/** Two responses may differ only in their Date. */
const undated = (head: string): string => head.replace(/\r\ndate: [^\r]+/i, '')
