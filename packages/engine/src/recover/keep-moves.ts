import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import type { Host } from '../host/host.ts'
import type { DepartingVm } from '../host/moves.ts'
import { arrivingRecord, settleArrival } from './settle-arrival.ts'
import { settleDeparture } from './settle-departure.ts'

const LOOK_EVERY_MS = 2000

/** Resolves interrupted moves: polls their targets until each has answered. */
export function keepMoves(host: Host, signal: AbortSignal): void {
  const atWork = new Set<string>()
  const noted = new Map<string, string>()
  const settle = (move: string, id: VmId, work: () => Promise<unknown>) => {
    // The holder of the VM's lock may be settling this move.
    if (atWork.has(move) || host.locks.isHeld(id)) return
    atWork.add(move)
    work()
      .then(() => noted.delete(move))
      .catch((error: unknown) => {
        // Log it once, not every two seconds.
        if (noted.get(move) === String(error)) return
        noted.set(move, String(error))
        host.log(`the move of VM ${id} is still unresolved`, error)
      })
      .finally(() => atWork.delete(move))
  }
  const look = () => {
    for (const departing of host.moves.departures()) {
      settle(departing.move, departing.id, () => askTarget(host, departing))
    }
    for (const arriving of host.moves.arrivals()) {
      const { move, id, stage } = arriving
      if (stage !== 'landed' || !arrivingRecord(host, arriving)) continue
      settle(move, id, () => host.locks.run(id, () => settleArrival(host, arriving)))
    }
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  look()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** The target is queried without holding the VM's lock, because it may take long to answer. */
async function askTarget(host: Host, { move, id, owner, stage, to }: DepartingVm): Promise<void> {
  const needsWord = stage === 'handed' || stage === 'stayed'
  const target = needsWord ? host.targetOf(to) : undefined
  if (needsWord && !target) {
    throw new Fault('unavailable', `no connection to host ${to}, which may have VM ${id}`)
  }
  const word = await target?.decide({ move, id, owner, handed: stage === 'handed' })
  await host.locks.run(id, async () => {
    const now = host.moves.departure(move)
    if (now?.stage === stage) await settleDeparture(host, now, word ?? 'silent')
  })
}
