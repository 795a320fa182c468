import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { changePower, listVms, makeDirectory, PASSABLE_DIRECTORY, type Host } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { PowerState } from '@skerry/vm'

import type { Journal } from '../journal/journal.ts'

/** Which VMs to start again after a reboot, besides those that vmd stopped cleanly. */
export const restores = ['autostart', 'previous'] as const
export type Restore = (typeof restores)[number]

export const stopWays = ['suspend', 'shutdown'] as const
export type StopWay = (typeof stopWays)[number]

/** Saving and restoring memory loads the disk, so only two guests at a time. */
const AT_ONCE = 2

export interface MachineBoot {
  /** A directory that is cleared at boot. */
  readonly run: string
  /** The kernel's boot id, in case `run` is not cleared at boot. */
  readonly bootId: string
  readonly vms: readonly { readonly id: string; readonly autostart: boolean }[]
}

export const machineOf = async ({ paths, records }: Host): Promise<MachineBoot> => ({
  run: paths.run,
  bootId: await readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
  vms: records.all().filter(({ owner, phase }) => owner === 'local' && phase === 'there'),
})

/**
 * Finds out whether the machine has rebooted since vmd last ran and, if so, records which VMs are
 * to start with it. Call it before the current power states are recorded.
 */
export async function noteBoot(
  journal: Journal,
  { run, bootId, vms }: MachineBoot,
  restore: Restore,
): Promise<void> {
  const marker = join(run, 'boot')
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === bootId) return
  const { known } = journal
  const ran = (id: string) => restore === 'previous' && known.vms.get(id)?.power === 'on'
  const wanted = vms.filter(({ id, autostart }) => autostart || known.toStart.has(id) || ran(id))
  await journal.append({ type: 'machine.started', vms: wanted.map(({ id }) => id).sort() })
  await makeDirectory(run, PASSABLE_DIRECTORY)
  await writeFile(marker, bootId, { mode: 0o600 })
}

/**
 * Starts the recorded VMs; one that fails does not delay the others. The callback records the power states first: a client that
 * reads that the machine is ready has already read which VMs run.
 */
export async function startGuests(
  journal: Journal,
  host: Host,
  record: () => Promise<void>,
): Promise<void> {
  const wanted = [...journal.known.toStart]
  if (wanted.length === 0) return
  await inLanes(wanted, AT_ONCE, async (id) => {
    await changePower(host, id, 'on').catch((error: unknown) =>
      host.log(`failed to start VM ${id} with the machine`, error),
    )
  })
  await record().catch((error: unknown) =>
    host.log('failed to record the started VMs, retrying later', error),
  )
  await journal.append({ type: 'machine.ready' })
}

export interface StoppedGuests {
  readonly stopped: readonly string[]
  /** Guests that still run, and why. */
  readonly left: readonly { readonly vm: string; readonly reason: string }[]
}

/** Stops every guest because the machine is shutting down; those that were on are started again at boot. */
export async function stopGuests(
  journal: Journal,
  host: Host,
  way: StopWay,
): Promise<StoppedGuests> {
  const running = (await listVms(host)).filter(({ power }) => power === 'on' || power === 'paused')
  const on = running.filter(({ power }) => power === 'on').map(({ id }) => id)
  await journal.append({ type: 'machine.stopping', vms: on })
  const stopped: string[] = []
  const left: { vm: string; reason: string }[] = []
  // Guests shut down in parallel; saving memory is limited by one disk.
  const lanes = way === 'shutdown' ? running.length : AT_ONCE
  await inLanes(running, lanes, async ({ id, power }) => {
    try {
      await stop(host, id, power, way)
      stopped.push(id)
    } catch (error) {
      host.log(`failed to stop VM ${id}`, error)
      left.push({ vm: id, reason: (error as Error).message })
    }
  })
  return { stopped, left }
}

/** A paused guest ignores a shutdown request, and would lose its state with the machine; so it is suspended. */
async function stop(host: Host, id: string, power: PowerState, way: StopWay): Promise<void> {
  try {
    await changePower(host, id, power === 'paused' ? 'suspend' : way)
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'timed-out' || way === 'suspend') throw error
    host.log(`VM ${id} did not shut down, suspending it instead`, error)
    await changePower(host, id, 'suspend')
  }
}

async function inLanes<T>(
  all: readonly T[],
  lanes: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const waiting = all.values()
  const lane = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: Math.max(1, lanes) }, lane))
}
