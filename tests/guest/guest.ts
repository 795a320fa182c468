import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine, type RemoteEngine } from './engine.ts'

/** Generous: many tests may run on few cores, and guests are emulated. */
export const BOOT_MS = 120_000

export interface Place extends AsyncDisposable {
  readonly host: LabHost
  readonly engine: RemoteEngine
  /** A directory outside of the host's own, visible on the host and here. */
  readonly dir: string
}

/** A lab host with an engine and the small guest as its template. */
export async function startPlace(): Promise<Place> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'guest-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host') }))
  const engine = stack.use(await startEngine(host))
  await engine.importTemplate('default', await guestImage('small'))
  const all = stack.move()
  return { host, engine, dir, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Waits until the guest has booted this many times, and its agent answers. */
export async function untilUp(engine: RemoteEngine, id: string, times = 1): Promise<void> {
  const isUp = async () => (await timesUp(engine, id)) >= times && (await engine.pingGuest(id))
  await until(`${id} comes up`, () => slowly(isUp), BOOT_MS)
}

/** Polling a hundred times a second would leave no CPU time for the guests on two cores. */
async function slowly<T>(ask: () => Promise<T>): Promise<T> {
  const answer = await ask()
  if (answer === false) await sleep(200)
  return answer
}

/** Runs a script in the guest; it must succeed. */
export async function inGuest(engine: RemoteEngine, id: string, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await tryInGuest(engine, id, script)
  assert.equal(exitCode, 0, `${script}: ${stderr}`)
  return stdout.trim()
}

export function tryInGuest(engine: RemoteEngine, id: string, script: string) {
  return engine.execInGuest(id, { path: '/bin/sh', args: ['-c', script] })
}

/** The guest's uptime in seconds, by its own clock. */
export async function uptime(engine: RemoteEngine, id: string): Promise<number> {
  return Number((await inGuest(engine, id, 'cat /proc/uptime')).split(' ')[0])
}

/** Identifies one boot of the guest's kernel. */
export function kernelOf(engine: RemoteEngine, id: string): Promise<string> {
  return inGuest(engine, id, 'cat /proc/sys/kernel/random/boot_id')
}

/** How many times the guest has booted, by its serial output. Complete lines count: a line arrives in parts. */
export async function timesUp(engine: RemoteEngine, id: string): Promise<number> {
  return (await engine.readSerialLog(id)).match(/guest up in [^\n]*\n/g)?.length ?? 0
}
