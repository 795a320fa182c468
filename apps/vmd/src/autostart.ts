import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { changePower, listVms, type Host } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { PowerState } from '@skerry/vm'

import type { Journal } from './journal.ts'

/** Which VMs run again after the machine was away, besides those it stopped in order. */
export const restores = ['autostart', 'previous'] as const
export type Restore = (typeof restores)[number]

export const stopWays = ['suspend', 'shutdown'] as const
export type StopWay = (typeof stopWays)[number]

/** Waking up and falling asleep keep the disk busy; two at a time leave it some order. */
const AT_ONCE = 2

export interface Machine {
  /** A directory that does not outlive a start of the machine. */
  readonly run: string
  /** The kernel's own name of this start; another where `run` outlives one after all. */
  readonly bootId: string
  readonly vms: readonly { readonly id: string; readonly autostart: boolean }[]
}

export const machineOf = async ({ paths, records }: Host): Promise<Machine> => ({
  run: paths.run,
  bootId: await readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
  vms: records.all().filter(({ owner, phase }) => owner === 'local' && phase === 'there'),
})

/**
 * Finds out whether the machine has started since vmd last ran and, if so, writes down which VMs are to
 * start with it. Must be called before anything is learnt of their power now.
 */
export async function noteBoot(
  journal: Journal,
  { run, bootId, vms }: Machine,
  restore: Restore,
): Promise<void> {
  const marker = join(run, 'boot')
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === bootId) return
  const { known } = journal
  const ran = (id: string) => restore === 'previous' && known.vms.get(id)?.power === 'on'
  const wanted = vms.filter(({ id, autostart }) => autostart || known.toStart.has(id) || ran(id))
  await journal.append({ type: 'machine.started', vms: wanted.map(({ id }) => id).sort() })
  await mkdir(run, { recursive: true, mode: 0o711 })
  await writeFile(marker, bootId)
}

/**
 * Turns on what is written down to be turned on; one that does not start holds up no other. `tell` writes down what they are now:
 * whoever reads that the machine is ready has read before which of them run.
 */
export async function startGuests(
  journal: Journal,
  host: Host,
  tell: () => Promise<void>,
): Promise<void> {
  const wanted = [...journal.known.toStart]
  if (wanted.length === 0) return
  await inLanes(wanted, AT_ONCE, async (id) => {
    await changePower(host, id, 'on').catch((error: unknown) =>
      host.note(`VM ${id} was to start with the machine and did not`, error),
    )
  })
  await tell().catch((error: unknown) => host.note('what was started is told later', error))
  await journal.append({ type: 'machine.ready' })
}

export interface Stopped {
  readonly stopped: readonly string[]
  /** Those that run on, and why. */
  readonly left: readonly { readonly vm: string; readonly reason: string }[]
}

/** Stops every guest because the machine goes down; those that were on run again when it is back. */
export async function stopGuests(journal: Journal, host: Host, way: StopWay): Promise<Stopped> {
  const running = (await listVms(host)).filter(({ power }) => power === 'on' || power === 'paused')
  const on = running.filter(({ power }) => power === 'on').map(({ id }) => id)
  await journal.append({ type: 'machine.stopping', vms: on })
  const stopped: string[] = []
  const left: { vm: string; reason: string }[] = []
  // Guests shut themselves down side by side; writing their memory away goes through one disk.
  const lanes = way === 'shutdown' ? running.length : AT_ONCE
  await inLanes(running, lanes, async ({ id, power }) => {
    try {
      await stop(host, id, power, way)
      stopped.push(id)
    } catch (error) {
      host.note(`VM ${id} could not be stopped`, error)
      left.push({ vm: id, reason: (error as Error).message })
    }
  })
  return { stopped, left }
}

/** Who is paused hears no request to shut down, and whoever passes over it would lose his work with the machine. */
async function stop(host: Host, id: string, power: PowerState, way: StopWay): Promise<void> {
  try {
    await changePower(host, id, power === 'paused' ? 'suspend' : way)
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'timed-out' || way === 'suspend') throw error
    host.note(`VM ${id} does not shut down and is suspended instead`, error)
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
