import { writeFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { noteOpened } from '../disk/check-disk.ts'
import { makeEmptyLayer } from '../disk/disk.ts'
import { overlayOf } from '../disk/redefine.ts'
import { domainXml } from '../domain/domain-xml.ts'
import { lookUp } from '../domain/find-domain.ts'
import { movedXml } from '../domain/moved-xml.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { MEMORY_TIMEOUT_MS } from '../host/link.ts'
import type { Arrival, Departure, Landing } from '../host/move-protocol.ts'
import { requireMoveId, type ArrivingVm } from '../host/moves.ts'
import { lifeDirectory, seedFile, serialFile } from '../host/paths.ts'
import { makeDirectory, PASSABLE_DIRECTORY, PRIVATE_FILE } from '../host/private-files.ts'
import type { VmRecord } from '../host/record.ts'
import { isAnswer } from '../host/to-fault.ts'
import { requireBridge } from '../network/bridge.ts'
import { keepAddress } from '../network/fixed-address.ts'
import { ensureNetworkOf } from '../network/org-network.ts'
import { arrivingRecord, completeArrival, settleArrival } from '../recover/settle-arrival.ts'
import { readVm } from './vms.ts'

/** Prepares the target of a migration: the record in phase 'making', an empty disk, the seed. */
export function makeReady(host: Host, departure: Departure, incarnation: string): Promise<Landing> {
  const { id, owner: whose } = departure.record
  const move = requireMoveId(departure.move)
  return host.locks.run(id, async () => {
    await host.moves.forgetOld(host.clock.now())
    if (host.moves.arrival(move))
      throw new Fault('conflict', `the move ${move} has already started`)
    await forgetEarlier(host, departure.record)
    if (host.records.get(id, whose)) throw new Fault('conflict', `this host already has a VM ${id}`)
    using _ = await host.room.hold(host.paths.data, departure.virtualBytes, `taking over VM ${id}`)
    await requireBridge(host, departure.facts.bridge)
    if (departure.record.nics) host.overlay.require()
    else await ensureNetworkOf(host, departure.record.network)
    const arriving: VmRecord = {
      ...departure.record,
      incarnation,
      phase: 'making',
      arrival: move,
      underWay: undefined,
    }
    const directory = lifeDirectory(host.paths, arriving)
    const entry = await writeAwaiting(host, departure)
    let record = await host.records.write(arriving)
    try {
      record = await host.records.write(await keepAddress(host, record))
      await makeDirectory(directory, PASSABLE_DIRECTORY)
      await noteOpened(host, record)
      const layers = await makeEmptyLayer(directory, departure.virtualBytes)
      const places = { seed: seedFile(host.paths, record), serial: serialFile(host.paths, record) }
      if (departure.seed !== undefined) {
        const seed = Buffer.from(departure.seed, 'base64')
        await writeFile(places.seed, seed, { flush: true, mode: PRIVATE_FILE })
      }
      const { owner, uuid, name, network } = record
      const overlay = overlayOf(host, record)
      const own = { id, owner, incarnation, uuid, title: name, network, overlay }
      const definition = { ...own, ...departure.facts, layers }
      const seed = departure.seed === undefined ? undefined : places.seed
      const whole = { ...definition, seed, serial: places.serial }
      const persistentXml = domainXml(whole, host.hypervisor)
      await host.moves.write({ ...entry, definition: persistentXml })
      return {
        xml: movedXml(departure.xml, { incarnation, disk: layers[0], ...places }),
        persistentXml,
      }
    } catch (error) {
      await settleArrival(host, entry)
      throw error
    }
  })
}

function writeAwaiting(host: Host, departure: Departure): Promise<ArrivingVm> {
  const { move, power } = departure
  const { id, owner } = departure.record
  const changedAt = host.clock.now().toISOString()
  return host.moves.write({
    side: 'target',
    stage: 'awaiting',
    move,
    id,
    owner,
    power,
    changedAt,
  })
}

/** An earlier move of the same VM that did not complete is discarded. */
async function forgetEarlier(host: Host, { id, owner, uuid }: VmRecord): Promise<void> {
  const record = host.records.get(id, owner)
  if (record?.phase !== 'making' || record.arrival === undefined || record.uuid !== uuid) return
  const earlier = host.moves.arrival(record.arrival)
  if (earlier?.stage === 'awaiting') await settleArrival(host, earlier)
}

/** Starts a QEMU that waits for the guest; `address` is where the other host reaches this one. */
export function prepareArrival(
  host: Host,
  move: string,
  leg: { readonly xml: string; readonly cookie: string; readonly flags: number },
  address: string,
): Promise<{ uri: string; cookie: string }> {
  const { destXml, uri } = libvirt.MigrateParam
  return host.locks.run(findArrival(host, move).id, async () => {
    requireAwaited(host, move)
    host.moves.preparedBy.set(move, await host.link.connection())
    const { uriOut, cookieOut } = await host.link.call(libvirt.domainMigratePrepare3Params, {
      params: [
        libvirt.param.string(destXml, leg.xml),
        libvirt.param.string(uri, `tcp://${address}`),
      ],
      cookieIn: Buffer.from(leg.cookie, 'base64'),
      flags: leg.flags,
    })
    if (uriOut === null) throw new Fault('unavailable', 'libvirt returned no migration URI')
    return { uri: uriOut, cookie: Buffer.from(cookieOut).toString('base64') }
  })
}

/**
 * Lets the guest run here. The record that this host owns it is written first: from then on the
 * source never resumes the guest, unless libvirt itself reports that the guest has not run here.
 */
export function finishArrival(
  host: Host,
  move: string,
  leg: { readonly cookie: string; readonly flags: number },
): Promise<Arrival> {
  return host.locks.run(findArrival(host, move).id, async () => {
    const { arriving, record } = requireAwaited(host, move)
    const { id, owner } = record
    if (host.moves.preparedBy.get(move) !== (await host.link.connection())) {
      await settleArrival(host, arriving)
      return { word: 'refused', reason: 'libvirt disconnected during the migration' }
    }
    const changedAt = host.clock.now().toISOString()
    const landed = await host.moves.write({ ...arriving, stage: 'landed', changedAt })
    try {
      const { dom } = await host.link.call(
        libvirt.domainMigrateFinish3Params,
        {
          params: [libvirt.param.string(libvirt.MigrateParam.destName, domainName(record))],
          cookieIn: Buffer.from(leg.cookie, 'base64'),
          flags: leg.flags,
          cancelled: 0,
        },
        { timeoutMs: MEMORY_TIMEOUT_MS },
      )
      await completeArrival(host, landed, { record, dom })
    } catch (error) {
      const refused = await refusedByLibvirt(host, landed, record, error)
      if (refused) return refused
      await settleArrival(host, landed)
    }
    return { word: 'landed', vm: await readVm(host, id, owner) }
  })
}

/** If libvirt answers that it could not start the guest, and has no such domain, the guest has not run here. */
async function refusedByLibvirt(
  host: Host,
  landed: ArrivingVm,
  record: VmRecord,
  error: unknown,
): Promise<Arrival | undefined> {
  if (!isAnswer(error)) return undefined
  const dom = await lookUp(host, domainName(record))
  if (dom && (await readPowerOf(host, dom)).power !== 'off') return undefined
  await settleArrival(host, await host.moves.write({ ...landed, stage: 'refused' }))
  return { word: 'refused', reason: error.message }
}

function findArrival(host: Host, move: string): ArrivingVm {
  const arriving = host.moves.arrival(requireMoveId(move))
  if (arriving) return arriving
  throw new Fault('not-found', `no incoming move ${move}`)
}

/** Call it while holding the VM's lock: the source may have received 'refused' meanwhile. */
function requireAwaited(
  host: Host,
  move: string,
): { readonly arriving: ArrivingVm; readonly record: VmRecord } {
  const arriving = findArrival(host, move)
  const record = arrivingRecord(host, arriving)
  if (arriving.stage === 'awaiting' && record) return { arriving, record }
  throw new Fault('conflict', `the move ${move} of VM ${arriving.id} is ${arriving.stage} here`)
}
