import { mkdir, writeFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { Vm, VmId } from '@skerry/vm'

import { requireBridge } from './bridge.ts'
import { noteOpened } from './check-disk.ts'
import { discard } from './delete.ts'
import { makeEmptyLayer } from './disk.ts'
import { domainXml } from './domain-xml.ts'
import { keepAddress } from './fixed-address.ts'
import type { Host } from './host.ts'
import { settleShare } from './keep-shares.ts'
import type { Departure, Landing } from './migrate.ts'
import { movedXml } from './moved-xml.ts'
import { ensureNetworkOf } from './org-network.ts'
import { lifeDirectory, seedFile, serialFile } from './paths.ts'
import type { VmRecord } from './record.ts'
import { requireRoom } from './space.ts'
import { readVm } from './vms.ts'

/** Makes room for a VM that comes from another host: its record as 'making', an empty disk, its seed. */
export function makeReady(host: Host, departure: Departure, incarnation: string): Promise<Landing> {
  const { id } = departure.record
  return host.turns.take(id, async () => {
    if (host.records.get(id)) throw new Fault('conflict', `this host already has a VM ${id}`)
    await requireRoom(host.paths.data, departure.virtualBytes, `taking over VM ${id}`)
    await requireBridge(host, departure.facts.bridge)
    await ensureNetworkOf(host, departure.record.network)
    const arriving: VmRecord = { ...departure.record, incarnation, phase: 'making' }
    const directory = lifeDirectory(host.paths, arriving)
    let record = await host.records.write(arriving)
    try {
      record = await host.records.write(await keepAddress(host, record))
      await mkdir(directory, { recursive: true, mode: 0o711 })
      await noteOpened(host, record)
      const layers = await makeEmptyLayer(directory, departure.virtualBytes)
      const places = { seed: seedFile(host.paths, record), serial: serialFile(host.paths, record) }
      if (departure.seed !== undefined) {
        await writeFile(places.seed, Buffer.from(departure.seed, 'base64'), { flush: true })
      }
      const { owner, uuid, name, network } = record
      const own = { id, owner, incarnation, uuid, title: name, network }
      const definition = { ...own, ...departure.facts, layers }
      const seed = departure.seed === undefined ? undefined : places.seed
      return {
        xml: movedXml(departure.xml, { incarnation, disk: layers[0], ...places }),
        persistentXml: domainXml({ ...definition, seed, serial: places.serial }, host.hypervisor),
      }
    } catch (error) {
      await discard(host, record)
      throw error
    }
  })
}

/** Starts a QEMU that waits for the guest; `address` is where the other host reaches this one. */
export async function prepareArrival(
  host: Host,
  leg: { readonly xml: string; readonly cookie: string; readonly flags: number },
  address: string,
): Promise<{ uri: string; cookie: string }> {
  const { destXml, uri } = libvirt.MigrateParam
  const { uriOut, cookieOut } = await host.link.call(libvirt.domainMigratePrepare3Params, {
    params: [libvirt.param.string(destXml, leg.xml), libvirt.param.string(uri, `tcp://${address}`)],
    cookieIn: Buffer.from(leg.cookie, 'base64'),
    flags: leg.flags,
  })
  if (uriOut === null)
    throw new Fault('unavailable', 'libvirt did not say where it waits for the guest')
  return { uri: uriOut, cookie: Buffer.from(cookieOut).toString('base64') }
}

/** Lets the guest run here, or sends it back; the cookie tells the source's libvirt. */
export function finishArrival(
  host: Host,
  id: VmId,
  leg: { readonly cookie: string; readonly flags: number; readonly arrived: boolean },
): Promise<{ cookie: string; vm?: Vm }> {
  return host.turns.take(id, async () => {
    const record = host.records.get(id)
    if (record?.phase !== 'making') throw new Fault('conflict', `no VM ${id} is on its way here`)
    const finish = host.link.call(libvirt.domainMigrateFinish3Params, {
      params: [libvirt.param.string(libvirt.MigrateParam.destName, `${record.owner}-${id}`)],
      cookieIn: Buffer.from(leg.cookie, 'base64'),
      flags: leg.flags,
      cancelled: leg.arrived ? 0 : 1,
    })
    if (!leg.arrived) {
      // libvirt answers a cancelled arrival with an error, which is what was asked for.
      await finish.catch(() => undefined)
      await discard(host, record)
      return { cookie: '' }
    }
    const { dom, cookieOut } = await finish
    const arrived = await host.records.write({ ...record, phase: 'there' })
    await settleShare(host, { record: arrived, dom })
    const vm = await readVm(host, id, record.owner)
    return { cookie: Buffer.from(cookieOut).toString('base64'), vm }
  })
}

/** Takes away what was made ready for a VM that does not come. */
export function abandonArrival(host: Host, id: VmId): Promise<void> {
  return host.turns.take(id, async () => {
    const record = host.records.get(id)
    if (record?.phase === 'making') await discard(host, record)
  })
}
