import assert from 'node:assert/strict'

import { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'

import { EngineGone } from '../guest/engine.ts'
import type { Driven } from './driven.ts'
import type { Engines } from './insist.ts'

const BOOT_TIMEOUT_MS = 180_000

/** Identifies one life of a guest and its QEMU; a stop of any kind shows in it. */
export interface Life {
  /** One boot of the guest's kernel. */
  readonly kernel: string
  readonly uptimeSeconds: number
  /** One life of its QEMU process. */
  readonly boot: string | null
  readonly seenAt: number
}

/** Creates guests and starts them, two at a time: an emulated boot takes a whole core. */
export async function bootGuests(engine: Driven, ids: readonly string[]): Promise<void> {
  const waiting = [...ids]
  const next = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const started = id
      await engine.createVm({ id, memoryMiB: 128, diskMiB: 64 })
      await engine.changePower(id, 'on')
      await until(`${id} should start`, () => engine.pingGuest(started), BOOT_TIMEOUT_MS)
    }
  }
  await Promise.all([next(), next()])
}

export async function readLife(engines: Engines, id: string): Promise<Life> {
  return until(`${id} should answer`, () => askLife(engines, id), 60_000)
}

async function askLife(engines: Engines, id: string): Promise<Life | undefined> {
  try {
    const engine = await engines()
    const said = await runInGuest(engine, id, 'cat /proc/sys/kernel/random/boot_id /proc/uptime')
    const [kernel = '', uptime = ''] = said.split('\n')
    const { boot } = await engine.readVm(id)
    const seenAt = performance.now()
    return { kernel, uptimeSeconds: Number.parseFloat(uptime), boot, seenAt }
  } catch (error) {
    if (error instanceof Fault || error instanceof EngineGone) return undefined
    throw error
  }
}

/** The same boot of the same kernel in the same process, which has run meanwhile. */
export function assertWentOn(id: string, before: Life, after: Life): void {
  assert.equal(after.kernel, before.kernel, `${id} was restarted`)
  assert.equal(after.boot, before.boot, `the QEMU of ${id} is another one`)
  const passed = (after.seenAt - before.seenAt) / 1000
  const ran = after.uptimeSeconds - before.uptimeSeconds
  // It is paused while its memory is saved; never for most of the time.
  assert.ok(ran > passed / 3, `${id} ran ${ran} s of ${passed} s`)
}

export async function runInGuest(engine: Driven, id: string, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await engine.execInGuest(id, {
    path: '/bin/sh',
    args: ['-c', script],
  })
  assert.equal(exitCode, 0, `${script} failed in ${id}: ${stderr}`)
  return stdout
}
