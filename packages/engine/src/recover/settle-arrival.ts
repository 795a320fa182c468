import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { moveRules, wordOf, type DomainSight, type TargetWord } from '@skerry/vm'

import { checkDisk } from '../disk/check-disk.ts'
import { lookUp, readFacts } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { MEMORY_TIMEOUT_MS } from '../host/link.ts'
import type { MoveQuestion } from '../host/move-protocol.ts'
import { requireMoveId, type ArrivingVm } from '../host/moves.ts'
import type { VmRecord } from '../host/record.ts'
import { settleShare } from '../share/keep-shares.ts'
import { discard } from './delete.ts'

/** Resume, start, and one more check. */
const ROUNDS = 4

/**
 * The target's decision on a move. A move that has not landed never will: that is recorded before
 * the answer, so that the source may resume the guest.
 */
export function decideArrival(host: Host, question: MoveQuestion): Promise<TargetWord> {
  const { move, id, owner, handed } = question
  requireMoveId(move)
  return host.locks.run(id, async () => {
    const arriving = host.moves.arrival(move)
    if (arriving) return settleArrival(host, arriving)
    if (handed) {
      throw new Fault('not-found', `move ${move} of VM ${id} not found on this host`, {
        hint: 'its files were lost: check manually which host has the guest',
      })
    }
    const changedAt = host.clock.now().toISOString()
    const fields = { side: 'target', move, id, owner, power: 'on', changedAt } as const
    await host.moves.write({ ...fields, stage: 'refused' })
    return 'refused'
  })
}

/**
 * Applies the rules (packages/vm/src/move-rules.ts) at the target, and returns its answer. Call it
 * while holding the VM's lock. Idempotent.
 */
export async function settleArrival(host: Host, arriving: ArrivingVm): Promise<TargetWord> {
  const record = arrivingRecord(host, arriving)
  for (let round = 0; round < ROUNDS; round++) {
    // Already removed or kept.
    if (arriving.stage !== 'awaiting' && !record) return wordOf(arriving.stage)
    const dom = record && (await lookUp(host, domainName(record)))
    switch (moveRules.target[arriving.stage][await sightOf(host, arriving, dom)]) {
      case 'remove': {
        const refused = await refuse(host, arriving)
        if (record) await discard(host, record)
        return wordOf(refused.stage)
      }
      case 'keep':
        if (record && dom) await completeArrival(host, arriving, { record, dom })
        return wordOf(arriving.stage)
      case 'resume':
        if (dom) await resumeDomain(host, dom, round)
        break
      case 'start':
        if (record) await start(host, arriving, record, dom)
        if (arriving.power === 'paused') return wordOf(arriving.stage)
    }
  }
  throw new Fault('unavailable', `VM ${arriving.id} arrived by a move but does not start`, {
    hint: 'check its domain with virsh, then start it',
  })
}

/** The record of a VM that is arriving by this move. */
export function arrivingRecord(host: Host, { id, owner, move }: ArrivingVm): VmRecord | undefined {
  const record = host.records.get(id, owner)
  return record?.phase === 'making' && record.arrival === move ? record : undefined
}

/** From here on the guest never runs here. */
function refuse(host: Host, arriving: ArrivingVm): Promise<ArrivingVm> {
  const changedAt = host.clock.now().toISOString()
  return host.moves.write({ ...arriving, stage: 'refused', definition: undefined, changedAt })
}

async function sightOf(
  host: Host,
  { power: before }: ArrivingVm,
  dom: libvirt.Domain | undefined,
): Promise<DomainSight> {
  if (!dom) return 'none'
  const { power, pausedBy } = await readPowerOf(host, dom)
  if (power === 'on' || (power === 'paused' && (before === 'paused' || pausedBy))) return 'running'
  return power === 'paused' ? 'paused' : 'off'
}

/** Makes it a VM of this host. */
export async function completeArrival(
  host: Host,
  arriving: ArrivingVm,
  { record, dom }: { readonly record: VmRecord; readonly dom: libvirt.Domain },
): Promise<void> {
  const kept = await host.records.write({ ...record, phase: 'there', arrival: undefined })
  await host.moves.write({ ...arriving, definition: undefined })
  host.changes.emit({ kind: 'lifecycle', domain: dom.name })
  await settleShare(host, { record: kept, dom })
}

async function resumeDomain(host: Host, dom: libvirt.Domain, round: number): Promise<void> {
  try {
    await host.link.call(libvirt.domainResume, { dom })
  } catch (error) {
    host.log(`failed to resume ${dom.name} after its move`, error)
    if (round > 0) await host.link.call(libvirt.domainDestroy, { dom }).catch(() => undefined)
  }
}

/** Starts from the disk, which is consistent; the memory is lost, as in a crash. */
async function start(
  host: Host,
  arriving: ArrivingVm,
  record: VmRecord,
  known: libvirt.Domain | undefined,
): Promise<void> {
  const xml = arriving.definition
  if (!known && xml === undefined) {
    throw new Fault('unavailable', `VM ${record.id} arrived by a move without a definition`)
  }
  const dom =
    known ?? (await host.link.call(libvirt.domainDefineXmlFlags, { xml: xml ?? '', flags: 0 })).dom
  await checkDisk(host, record, (await readFacts(host, dom)).disk)
  if (arriving.power === 'paused') return completeArrival(host, arriving, { record, dom })
  host.log(`VM ${record.id} lost its memory during a move; starting it from its disk`)
  await host.link.call(libvirt.domainCreate, { dom }, { timeoutMs: MEMORY_TIMEOUT_MS })
}
