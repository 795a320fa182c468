// Goal: concurrent work never takes more space than there is. Method: a simulated file system that shrinks while work writes;
// random orders of starts and ends of a few pieces of work.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'

import { Fault } from '@skerry/fault'

import { RESERVE_BYTES, Room } from '../src/host/space.ts'

const MIB = 1024 ** 2
const dir = tmpdir()

/** A disk with this much space beside the reserve. */
function disk(mebibytes: number) {
  let free = RESERVE_BYTES + mebibytes * MIB
  let least = free
  const write = (bytes: number) => {
    free -= bytes
    least = Math.min(least, free)
  }
  const room = new Room(async () => {
    await soon()
    return free
  })
  return { room, write, least: () => least }
}

const isNoRoom = (error: unknown): boolean => error instanceof Fault && error.kind === 'no-room'

test('work that does not fit is rejected, even if nothing else runs', async () => {
  const { room } = disk(100)
  await assert.rejects(room.hold(dir, 101 * MIB, 'a snapshot'), isNoRoom)
  using _ = await room.hold(dir, 100 * MIB, 'a snapshot')
})

test('work that may not fit beside running work waits, and proceeds if less was written', async () => {
  const { room, write } = disk(100)
  const first = await room.hold(dir, 80 * MIB, 'suspending VM a')
  let second: Disposable | undefined
  const requested = room.hold(dir, 60 * MIB, 'suspending VM b').then((hold) => (second = hold))
  for (let n = 0; n < 5; n += 1) await soon()
  assert.equal(second, undefined, 'it waits')
  write(30 * MIB)
  first[Symbol.dispose]()
  using _ = await requested
})

test('work that waited is rejected if all was written', async () => {
  const { room, write } = disk(100)
  const first = await room.hold(dir, 80 * MIB, 'suspending VM a')
  const requested = room.hold(dir, 60 * MIB, 'suspending VM b')
  write(80 * MIB)
  first[Symbol.dispose]()
  await assert.rejects(requested, isNoRoom)
})

test('concurrent work never writes into the reserve, and none waits forever', async () => {
  for (let round = 0; round < 50; round += 1) {
    const { room, write, least } = disk(300)
    const outcomes = await Promise.all(
      [...Array(12).keys()].map(async (at) => {
        const bytes = (20 + ((at * 37 + round * 11) % 80)) * MIB
        try {
          using _ = await room.hold(dir, bytes, 'a snapshot')
          for (let part = 0; part < 4; part += 1) {
            await soon()
            write(bytes / 4)
          }
          return 'done'
        } catch (error) {
          assert.ok(isNoRoom(error))
          return 'refused'
        }
      }),
    )
    assert.ok(least() >= RESERVE_BYTES, `${(RESERVE_BYTES - least()) / MIB} MiB too many`)
    assert.ok(outcomes.includes('done') && outcomes.includes('refused'))
  }
})
