import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { moveRules, stageAfter, type HeardWord } from '@skerry/vm'

import { lookUp } from '../domain/find-domain.ts'
import { isBusy } from '../domain/is-busy.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { DepartingVm } from '../host/moves.ts'
import { isAnswer } from '../host/to-fault.ts'
import { settleShare } from '../share/keep-shares.ts'
import { discard } from './delete.ts'

/** How long libvirt may take to end an abandoned copy. */
const SETTLE_MS = 120_000

/**
 * Applies the rules (packages/vm/src/move-rules.ts) at the source, given the target's answer. Call
 * it while holding the VM's lock. Idempotent.
 */
export async function settleDeparture(
  host: Host,
  departing: DepartingVm,
  word: HeardWord,
): Promise<void> {
  const act = moveRules.source[departing.stage][word]
  const stage = stageAfter[act]
  if (stage === 'same') return
  if (stage === undefined) return host.moves.remove(departing)
  const changedAt = host.clock.now().toISOString()
  if (act === 'leave') {
    const left = await host.moves.write({ ...departing, stage, changedAt })
    await finishDeparture(host, left)
    return host.moves.remove(left)
  }
  // Before it is recorded: if interrupted here, it is repeated.
  await resumeHere(host, departing)
  await host.moves.write({ ...departing, stage, changedAt })
}

async function finishDeparture(host: Host, { id, owner, flags }: DepartingVm): Promise<void> {
  const record = host.records.get(id, owner)
  if (!record) return
  const dom = await lookUp(host, domainName(record))
  if (dom) await confirm(host, dom, { flags, cancelled: 0 })
  await discard(host, await host.records.write({ ...record, phase: 'leaving' }))
}

/** Resumes the guest on this host. */
async function resumeHere(host: Host, departing: DepartingVm): Promise<void> {
  const { id, owner, stage, power: before, flags } = departing
  const record = host.records.get(id, owner)
  const dom = record && (await lookUp(host, domainName(record)))
  if (!dom) return
  // Everything is copied: libvirt waits only for this confirmation.
  if (stage === 'handed') await confirm(host, dom, { flags, cancelled: 1 })
  let requested = 0
  const settled = await host.changes.until(dom.name, SETTLE_MS, async () => {
    const { power, pausedBy } = await readPowerOf(host, dom)
    if (power === 'off') return true
    if (await isBusy(host, dom)) {
      // A running copy ends when it is aborted, a finished one when it is confirmed.
      await host.link.call(libvirt.domainAbortJob, { dom }).catch(() => undefined)
      requested += 1
      if (power === 'paused' && requested > 2) await confirm(host, dom, { flags, cancelled: 1 })
      return undefined
    }
    if (power !== 'paused' || before === 'paused' || pausedBy !== undefined) return true
    await host.link.call(libvirt.domainResume, { dom }).catch((error: unknown) => {
      host.log(`failed to resume VM ${id}, retrying`, error)
    })
    return undefined
  })
  if (!settled) {
    throw new Fault('timed-out', `libvirt did not end the move of VM ${id} in time`, {
      hint: 'restart libvirtd; its guests keep running',
    })
  }
  await settleShare(host, { record, dom })
}

/** Confirms the outcome of a move to libvirt. libvirt knows of none if it, or the program that began the move, was restarted. */
async function confirm(
  host: Host,
  dom: libvirt.Domain,
  { flags, cancelled }: { readonly flags: number; readonly cancelled: 0 | 1 },
): Promise<void> {
  await host.link
    .call(libvirt.domainMigrateConfirm3Params, {
      dom,
      params: [],
      cookieIn: new Uint8Array(),
      flags,
      cancelled,
    })
    .catch((error: unknown) => {
      if (!isAnswer(error)) throw error
    })
}
