// Threat: an unauthenticated client keeps a cell's connections, memory and password checks so busy that no one else gets in.
// Method: 2,000 silent connections, 1,000 requests with incomplete bodies and 200 wrong logins at once, from one address, against
// a cell in its own process; meanwhile a user logs in from another address.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:https'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'

import { PASSWORD, share, startLoneCell, type LoneCell } from './lone-cell.ts'

const SILENT = 2000
const HALF = 1000
const HALF_BYTES = 300_000
const WRONG = 200
const ROUNDS = 9
const BACK_MS = 30_000
/** The memory that a cell may keep after a load. The bodies alone would be 300 MiB. */
const KEPT_MIB = 150

let cell: LoneCell
before(async () => {
  cell = await startLoneCell()
  await cell.addUser(await cell.addOrg('eng'), 'alice', 'author')
})
after(() => cell[Symbol.asyncDispose]())

async function timedLogin(): Promise<number> {
  const began = performance.now()
  assert.equal(await cell.logIn('alice@eng', PASSWORD, { from: '127.0.0.2' }), 200)
  return performance.now() - began
}

async function dial(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: cell.port })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Announces a megabyte, and stops after a third of it. */
async function halfBody(): Promise<Socket> {
  const socket = connectSecure({ host: '127.0.0.1', port: cell.port, ca: cell.ca })
  socket.on('error', () => undefined).resume()
  // The cell may close it before.
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => undefined)
  socket.write(
    'POST /api/vdc/x/action/composeVApp HTTP/1.1\r\nhost: a\r\naccept: application/*+xml;version=5.1\r\ncontent-length: 1048000\r\n\r\n',
  )
  socket.write(Buffer.alloc(HALF_BYTES, 97))
  return socket
}

async function inParts<T>(count: number, at: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = []
  const work = async () => {
    while (made.length < count) made.push(await make())
  }
  await Promise.all(Array.from({ length: at }, work))
  return made
}

async function someOf(all: readonly Promise<void>[], count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let done = 0
  for (const each of all) void each.then(() => (done += 1) === count && resolve())
  await promise
}

test('2,000 silent connections, 1,000 half bodies and 200 wrong logins at once lock no one out', async (t) => {
  for (let n = 0; n < 3; n += 1) await timedLogin()
  const before = await cell.costs()

  const opening = performance.now()
  const silent = await inParts(SILENT, 50, dial)
  const half = await inParts(HALF, 50, halfBody)
  const filled = await cell.costs()
  t.diagnostic(`opened in ${Math.round(performance.now() - opening)} ms`)
  const attackers = new Agent({ keepAlive: true, maxSockets: WRONG, ca: cell.ca })
  const answers = new Map<number, number>()
  const guess = async (n: number): Promise<void> => {
    // An unauthenticated connection may be closed at any time: 0.
    const status = await cell.logIn(`nobody-${n}@eng`, 'wrong', { agent: attackers }).catch(() => 0)
    answers.set(status, (answers.get(status) ?? 0) + 1)
  }
  const quiet: number[] = []
  const during: number[] = []
  const guesses: Promise<void>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    // Alternately one login without guesses and one among them: other load of the machine is in both.
    quiet.push(await timedLogin())
    const requested = Array.from({ length: WRONG }, (_, n) => guess(round * WRONG + n))
    guesses.push(...requested)
    // Most are rejected at once; the others keep the checks busy while a user logs in.
    await someOf(requested, WRONG / 2)
    during.push(await timedLogin())
  }
  attackers.destroy()
  await Promise.all(guesses)

  const since = performance.now()
  let now = await cell.costs()
  const isBack = () => now.files <= before.files + 20 && now.mib <= before.mib + KEPT_MIB
  while (!isBack() && performance.now() - since < BACK_MS) {
    await sleep(250)
    now = await cell.costs()
  }
  const ratio = share(during, 0.5) / share(quiet, 0.5)
  const words = ({ files, mib }: typeof now) => `${files} files, ${mib} MiB`
  t.diagnostic(
    `before ${words(before)}; filled ${words(filled)}; ${Math.round(performance.now() - since)} ms later ${words(now)}`,
  )
  t.diagnostic(
    `a right login: ${Math.round(share(quiet, 0.5))} ms, under attack ${Math.round(share(during, 0.5))} ms (${ratio.toFixed(2)}); wrong ones: ${JSON.stringify(Object.fromEntries(answers))}`,
  )
  for (const socket of [...silent, ...half]) socket.destroy()
  assert.ok(isBack(), `${words(now)} after ${BACK_MS} ms, ${words(before)} before`)
  assert.ok(ratio <= 2, `a right login is ${ratio.toFixed(2)} times as slow`)
  assert.ok((answers.get(429) ?? 0) > WRONG, 'most guesses are rejected before they cost anything')
  assert.ok([...answers.keys()].every((status) => [0, 401, 429].includes(status)))
})
