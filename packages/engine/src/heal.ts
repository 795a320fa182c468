import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { checkDisk } from './disk/check-disk.ts'
import { settleLayers } from './disk/settle-layers.ts'
import { lookUp, readFacts } from './domain/find-domain.ts'
import { readPowerOf } from './domain/read-power.ts'
import { domainName } from './host/definition.ts'
import type { Host } from './host/host.ts'
import { lifeDirectory } from './host/paths.ts'
import type { VmRecord } from './host/record.ts'
import { clearPid } from './recover/clear-unstarted.ts'
import { discard } from './recover/delete.ts'
import { settleUnderWay } from './recover/pending-change.ts'
import { settleArrival } from './recover/settle-arrival.ts'
import { settleDeparture } from './recover/settle-departure.ts'
import { settleSave } from './recover/settle-save.ts'
import { settleShare } from './share/keep-shares.ts'
import { restoreLinks } from './vm/join-network.ts'

/** A VM that takes longer, e.g. one that libvirt is still saving, delays only requests for that VM. */
const PATIENCE_MS = 60_000

/**
 * Repairs the host's state after any crash: incomplete VMs are removed, changes under way are
 * finished or undone, and the folders and links of running guests are restored. It holds each VM's
 * lock, so that it does not disturb running operations.
 */
export async function heal(host: Host): Promise<void> {
  const moves = [...host.moves.departures(), ...host.moves.arrivals()].map(({ move, id }) =>
    host.locks
      .run(id, () => healMove(host, move))
      .catch((error: unknown) => host.log(`the move of VM ${id} is still unresolved`, error)),
  )
  const all = host.records.all().map(({ id, owner }) =>
    host.locks
      .run(id, async () => {
        const record = host.records.get(id, owner)
        if (record) await healVm(host, record)
      })
      .catch((error: unknown) => host.log(`failed to repair VM ${id}`, error)),
  )
  const waiting = new AbortController()
  const late = sleep(PATIENCE_MS, undefined, { signal: waiting.signal }).catch(() => undefined)
  await Promise.race([Promise.all([...moves, ...all]), late])
  waiting.abort()
}

async function healMove(host: Host, move: string): Promise<void> {
  const departing = host.moves.departure(move)
  // A question that only the target can answer is asked later: see keep-moves.ts.
  if (departing) await settleDeparture(host, departing, 'silent')
  const arriving = host.moves.arrival(move)
  if (arriving) await settleArrival(host, arriving)
}

async function healVm(host: Host, record: VmRecord): Promise<void> {
  if (host.moves.departureOf(record)) return
  if (record.phase === 'making' && record.arrival !== undefined) {
    // It is settled with its move; if that failed, it is retried.
    if (host.moves.arrival(record.arrival)) return
  }
  if (record.phase !== 'there') return discard(host, record)
  const dom = await lookUp(host, domainName(record))
  if (!dom) {
    host.log(`VM ${record.id} has a record but no libvirt domain`)
    return
  }
  const found = { record: await settleUnderWay(host, { record, dom }), dom }
  const { power } = await readPowerOf(host, dom)
  await clearTemporary(lifeDirectory(host.paths, record))
  await settleSave(host, dom, power)
  await settleLayers(host, found, power)
  await settleShare(host, found)
  if (power === 'on' || power === 'paused') await restoreLinks(host, found)
  if (power === 'off' || power === 'suspended') await clearPid(host.paths, domainName(record))
  if (power === 'off') await checkDisk(host, record, (await readFacts(host, dom)).disk)
}

async function clearTemporary(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.endsWith('.tmp'))) await rm(join(directory, name))
}
