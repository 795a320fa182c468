import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { mayDo, type TargetWord } from '@skerry/vm'

import { readLayers, virtualBytes } from '../disk/disk.ts'
import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import type { Host } from '../host/host.ts'
import type { Departure, MoveTarget, Arrival } from '../host/move-protocol.ts'
import type { DepartingVm } from '../host/moves.ts'
import type { Owner } from '../host/owner.ts'
import { seedFile } from '../host/paths.ts'
import { findSettled } from '../recover/pending-change.ts'
import { settleDeparture } from '../recover/settle-departure.ts'
import { withoutShare } from '../share/share.ts'

/**
 * A running guest moves from one host to another with its disk. Each side calls only its own
 * libvirt; they exchange data through the target's functions.
 *
 *   source   begin ─────────▶ perform ─▶ writes 'handed' ┐             ┌▶ confirm, and the VM is gone here
 *   target          prepare ──┘                          └▶ 'landed', finish
 *
 * Both hosts record which of them has the guest, and the target's word counts: the rules are in
 * packages/vm/src/move-rules.ts.
 */
const { live, persistDest, nonSharedDisk, abortOnError, autoConverge, paused } =
  libvirt.DomainMigrateFlags

export interface MigrateOptions {
  readonly owner?: Owner
  readonly signal?: AbortSignal
}

/**
 * Moves a running VM to another host. If it fails, the VM continues on this host. If it fails as
 * 'unavailable' after the hand-over, the target is polled until it answers which host has the VM.
 */
export function migrateVm(
  host: Host,
  id: string,
  to: string,
  options: MigrateOptions = {},
): Promise<void> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const { power } = await readPowerOf(host, found.dom)
    if (!mayDo('migrate', power)) {
      throw new Fault('conflict', `VM ${id} is ${power}; only a running VM can be moved`, {
        hint: `turn VM ${id} on first`,
      })
    }
    const target = host.targetOf(to)
    if (!target) throw new Fault('unavailable', `no connection to host ${to}`)
    const departing = await writeDeparting(host, found, to, power === 'paused' ? 'paused' : 'on')
    const { fault } = await withoutShare(host, found.record, found.dom, () =>
      depart(host, found, target, departing, options.signal),
    )
    if (fault !== undefined) throw fault
  })
}

async function writeDeparting(
  host: Host,
  { record: { id, owner } }: FoundVm,
  to: string,
  power: 'on' | 'paused',
): Promise<DepartingVm> {
  const always = live | persistDest | nonSharedDisk | abortOnError | autoConverge
  const flags = always | (power === 'paused' ? paused : 0)
  const [move, changedAt] = [host.ids.uuid(), host.clock.now().toISOString()]
  const fields = { side: 'source', move, id, owner, power, to, flags, changedAt } as const
  return host.moves.write({ ...fields, stage: 'departing' })
}

/** Throws if the guest continues here. Returns a fault if the outcome is still unknown. */
async function depart(
  host: Host,
  found: FoundVm,
  target: MoveTarget,
  departing: DepartingVm,
  signal?: AbortSignal,
): Promise<{ readonly fault?: unknown }> {
  const { move, flags } = departing
  const handed = await copy(host, found, target, departing, signal).catch(
    async (error: unknown) => {
      // Also if the guest continues by itself: the target must learn that nothing will arrive.
      await takeBack(host, target, departing)
      throw error
    },
  )
  let fault: unknown
  const finished = await target
    .finish(move, { cookie: handed.cookie, flags })
    .catch((error: unknown): Arrival | undefined => {
      fault = error
      return undefined
    })
  const word = finished?.word ?? (await askOnce(host, target, handed.departing))
  if (word === undefined) return { fault: targetUnanswered(departing, fault) }
  await settleDeparture(host, handed.departing, word)
  if (word === 'landed') return {}
  const why = finished?.word === 'refused' ? `: ${finished.reason}` : ''
  throw (
    fault ??
    new Fault('unavailable', `VM ${found.record.id} did not arrive and continues here${why}`)
  )
}

/** Transfers the guest; it is then paused on both hosts, and the target decides. */
async function copy(
  host: Host,
  found: FoundVm,
  target: MoveTarget,
  departing: DepartingVm,
  signal?: AbortSignal,
): Promise<{ readonly departing: DepartingVm; readonly cookie: string }> {
  const { move, flags } = departing
  const { xml, persistentXml } = await target.makeReady(await describe(host, found, departing))
  const { destXml, persistXml, uri: uriParam } = libvirt.MigrateParam
  const requested = [libvirt.param.string(persistXml, persistentXml)]
  const begun = await host.link.call(libvirt.domainMigrateBegin3Params, {
    dom: found.dom,
    params: [...requested, libvirt.param.string(destXml, xml)],
    flags,
  })
  const leg = { xml: begun.xml, cookie: text(begun.cookieOut), flags }
  const { uri, cookie } = await target.prepare(move, leg)
  const where = [...requested, libvirt.param.string(uriParam, uri)]
  const performed = await perform(host, found, where, cookie, flags, signal)
  const changedAt = host.clock.now().toISOString()
  const handed = await host.moves.write({ ...departing, stage: 'handed', changedAt })
  return { departing: handed, cookie: performed.cookie }
}

/** Resumes the guest here. keepMoves does later what cannot be done now. */
async function takeBack(host: Host, target: MoveTarget, departing: DepartingVm): Promise<void> {
  const { move, id, owner } = departing
  // A target that waits for more data blocks the copy.
  const answer = target.decide({ move, id, owner, handed: false }).catch(() => undefined)
  try {
    await settleDeparture(host, departing, 'silent')
    const stayed = host.moves.departure(move)
    if (stayed) await settleDeparture(host, stayed, (await answer) ?? 'silent')
  } catch (error) {
    host.log(`failed to roll back the move of VM ${id}`, error)
  }
}

/** Asks once; keepMoves repeats it. */
async function askOnce(
  host: Host,
  target: MoveTarget,
  { move, id, owner }: DepartingVm,
): Promise<TargetWord | undefined> {
  return target.decide({ move, id, owner, handed: true }).catch((error: unknown) => {
    host.log(`the target host did not answer whether it has VM ${id}`, error)
    return undefined
  })
}

const targetUnanswered = ({ id, to }: DepartingVm, cause: unknown): Fault =>
  new Fault('unavailable', `VM ${id} was handed over to ${to}, which has not answered`, {
    cause,
    hint: `it runs on ${to} or here; ${to} decides once it is reachable`,
  })

/** Transfers memory and disk. */
async function perform(
  host: Host,
  { dom }: FoundVm,
  params: libvirt.TypedParam[],
  cookie: string,
  flags: number,
  signal?: AbortSignal,
): Promise<{ readonly cookie: string }> {
  const stop = () => {
    host.link
      .call(libvirt.domainAbortJob, { dom })
      .catch((error: unknown) => host.log(`failed to stop the move of ${dom.name}`, error))
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const { cookieOut } = await host.link.call(
      libvirt.domainMigratePerform3Params,
      { dom, dconnuri: null, params, cookieIn: bytes(cookie), flags },
      // No timeout: a disk may be large, and the signal can stop it.
      { timeoutMs: 0 },
    )
    return { cookie: text(cookieOut) }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function describe(
  host: Host,
  { record, dom }: FoundVm,
  { move, power, flags }: DepartingVm,
): Promise<Departure> {
  const { migratable, secure } = libvirt.DomainXMLFlags
  const { xml } = await host.link.call(libvirt.domainGetXmlDesc, {
    dom,
    flags: migratable | secure,
  })
  const { cpus, memoryMiB, nested, mac, bridge, disk } = await readFacts(host, dom)
  const seed = await readFile(seedFile(host.paths, record)).catch(() => undefined)
  return {
    move,
    power,
    record,
    facts: { cpus, memoryMiB, nested, mac, bridge },
    xml,
    virtualBytes: await virtualBytes(await readLayers(disk)),
    seed: seed?.toString('base64'),
    flags,
  }
}

const bytes = (cookie: string): Uint8Array => Buffer.from(cookie, 'base64')
const text = (cookie: Uint8Array): string => Buffer.from(cookie).toString('base64')
