// Two hosts of a lab, for guests that move from the first to the second.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { guestImage, startLab } from '@skerry/lab'

import { startEngine, type Errands, type RemoteEngine } from './engine.ts'

/** Of a guest after its move. */
export const INCARNATION = '2'

/** The steps of the other host on request of the first. */
const errandsOf =
  (engine: RemoteEngine, address: string): Errands =>
  (call, args) => {
    const functions = engine as unknown as Record<
      string,
      (...args: readonly unknown[]) => Promise<unknown>
    >
    const more = { makeReady: [INCARNATION], prepareArrival: [address] }[call] ?? []
    return functions[call]?.(...args, ...more) ?? Promise.reject(new Error(call))
  }

/** Two hosts of a lab with an engine on each; the first reaches the second at the given address. */
export async function startTwo({
  reachedBy,
  network = false,
}: { readonly reachedBy?: string; readonly network?: boolean } = {}) {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'move-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const lab = stack.use(await startLab({ dir, hosts: 2, network }))
  const [from, to] = lab.hosts
  assert.ok(from && to?.address !== undefined)
  const there = stack.use(await startEngine(to))
  const here = stack.use(await startEngine(from, errandsOf(there, reachedBy ?? to.address)))
  await here.importTemplate('default', await guestImage('small'))
  const all = stack.move()
  return { lab, from, to, here, there, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
