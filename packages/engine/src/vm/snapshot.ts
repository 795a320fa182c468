import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { mayDo, whyNotSnapshotName, type Snapshot } from '@skerry/vm'
import { attribute, element, find, readXml, renderElement, text, type Element } from '@skerry/xml'

import { readOpenDisk } from '../disk/open-disk.ts'
import { bridgeOf, networkIn } from '../domain/domain-xml.ts'
import { findVm, readFacts, type FoundVm } from '../domain/find-domain.ts'
import { askMonitor } from '../domain/monitor.ts'
import { readPowerOf } from '../domain/read-power.ts'
import type { Host } from '../host/host.ts'
import { MEMORY_TIMEOUT_MS } from '../host/link.ts'
import type { Owner } from '../host/owner.ts'
import { requireBridge } from '../network/bridge.ts'
import { ensureNetworkOf } from '../network/org-network.ts'
import { findSnapshot, lookUpSnapshot } from '../recover/find-snapshot.ts'
import { findSettled, withIntentRecorded } from '../recover/pending-change.ts'
import { closeShare, openShare, requireUnshared, withoutShare } from '../share/share.ts'
import { restoreLinks } from './join-network.ts'

const DISK_BYTES = 8 * 1024 * 1024
const XML_BYTES_MAX = 8 * 1024 * 1024

export interface NewSnapshot {
  readonly name: string
  /** Include the memory; possible only if the guest runs. Default: included if the guest runs. */
  readonly memory?: boolean
}

/** Takes a snapshot of the VM, stored inside its disk. */
export function createSnapshot(
  host: Host,
  id: string,
  requested: NewSnapshot,
  owner?: Owner,
): Promise<Snapshot> {
  return host.locks.run(id, async () => {
    const why = whyNotSnapshotName(requested.name)
    if (why !== undefined) throw new Fault('invalid', why)
    const found = await findSettled(host, id, owner)
    const { power } = await readPowerOf(host, found.dom)
    if (!mayDo('snapshot', power)) {
      throw new Fault('conflict', `VM ${id} is ${power} and cannot be snapshotted`, {
        hint: `turn VM ${id} on first`,
        state: power,
      })
    }
    if (await lookUpSnapshot(host, found.dom, requested.name)) {
      throw new Fault('conflict', `VM ${id} already has a snapshot ${requested.name}`, {
        hint: 'choose another name, or remove that snapshot first',
      })
    }
    const runs = power !== 'off'
    const memory = requested.memory ?? runs
    if (memory && !runs) {
      throw new Fault('conflict', `VM ${id} is off; a snapshot with memory requires a running VM`, {
        hint: 'omit memory',
        state: power,
      })
    }
    const { memoryMiB } = await readFacts(host, found.dom)
    const bytes = DISK_BYTES + (memory ? memoryMiB * 1024 ** 2 : 0)
    using _ = await host.room.hold(host.paths.data, bytes, `taking a snapshot of VM ${id}`)
    if (memory && power === 'paused') await requireUnshared(host, found.record, found.dom)
    const way = !runs ? keepWhole : memory ? keepRunning : keepDiskOf
    await withIntentRecorded(host, found, { change: 'keep', snapshot: requested.name, power }, () =>
      way(host, found, requested.name),
    )
    return await readSnapshot(host, id, requested.name, owner)
  })
}

export async function listSnapshots(host: Host, id: string, owner?: Owner): Promise<Snapshot[]> {
  const { dom } = await findVm(host, id, owner)
  const { snapshots } = await host.link.call(libvirt.domainListAllSnapshots, {
    dom,
    needResults: 1,
    flags: 0,
  })
  const all = await Promise.all(snapshots.map((snap) => describe(host, snap)))
  return all.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
}

export async function readSnapshot(
  host: Host,
  id: string,
  name: string,
  owner?: Owner,
): Promise<Snapshot> {
  const { dom } = await findVm(host, id, owner)
  return describe(host, await findSnapshot(host, id, dom, name))
}

/** Reverts the VM to a snapshot; the guest continues from there if the snapshot includes memory. */
export function revertSnapshot(host: Host, id: string, name: string, owner?: Owner): Promise<void> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, owner)
    const { record, dom } = found
    const { power } = await readPowerOf(host, dom)
    if (!mayDo('revert', power)) {
      throw new Fault('conflict', `VM ${id} is ${power} and cannot be reverted`, {
        hint: `turn VM ${id} on first, or delete it`,
        state: power,
      })
    }
    const snap = await findSnapshot(host, id, dom, name)
    await requireItsNetwork(host, snap)
    const runs = power !== 'off'
    if (power === 'paused') await requireUnshared(host, record, dom)
    const revert = () =>
      host.link.call(
        libvirt.domainRevertToSnapshot,
        { snap, flags: libvirt.DomainSnapshotRevertFlags.force },
        { timeoutMs: MEMORY_TIMEOUT_MS },
      )
    await withIntentRecorded(host, found, { change: 'revert', snapshot: name, power }, () =>
      runs ? withoutShare(host, record, dom, revert) : revert(),
    )
    const after = await readPowerOf(host, dom)
    if (after.power !== 'off') await restoreLinks(host, found)
    if (record.sharing && after.power === 'on') await openShare(host, record, dom)
    if (after.power === 'off') await closeShare(host, record)
  })
}

/** A guest restored with its memory runs at once, on the network it was on. */
async function requireItsNetwork(host: Host, snap: libvirt.DomainSnapshot): Promise<void> {
  const { xml } = await host.link.call(libvirt.domainSnapshotGetXmlDesc, { snap, flags: 0 })
  const document = readXml(xml, { bytesMax: XML_BYTES_MAX })
  if (!keepsMemory(document)) return
  const domain = find(document, 'domain')
  await requireBridge(host, bridgeOf(domain))
  await ensureNetworkOf(host, networkIn(domain))
}

const keepsMemory = (document: Element): boolean =>
  attribute(find(document, 'memory'), 'snapshot') === 'internal'

export function removeSnapshot(host: Host, id: string, name: string, owner?: Owner): Promise<void> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, owner)
    const { power } = await readPowerOf(host, found.dom)
    const snap = await findSnapshot(host, id, found.dom, name)
    await withIntentRecorded(host, found, { change: 'remove', snapshot: name, power }, () =>
      host.link.call(
        libvirt.domainSnapshotDelete,
        { snap, flags: 0 },
        { timeoutMs: MEMORY_TIMEOUT_MS },
      ),
    )
  })
}

function keepWhole({ link }: Host, { dom }: FoundVm, name: string): Promise<unknown> {
  return link.call(
    libvirt.domainSnapshotCreateXml,
    { dom, xmlDesc: renderElement(snapshotElement(name)), flags: 0 },
    { timeoutMs: MEMORY_TIMEOUT_MS },
  )
}

async function keepRunning(host: Host, found: FoundVm, name: string): Promise<void> {
  await withoutShare(host, found.record, found.dom, () => keepWhole(host, found, name), 'goes on')
}

/**
 * A snapshot of the disk alone while the guest runs. libvirt can only add a layer for it, which it
 * cannot revert to; QEMU itself can store it inside the disk. libvirt then gets its metadata as of
 * a snapshot taken while the VM was off, which is how it can be used.
 */
async function keepDiskOf(host: Host, { dom }: FoundVm, name: string): Promise<void> {
  const { node: device } = await readOpenDisk(host, dom)
  await askMonitor(host, dom, 'blockdev-snapshot-internal-sync', { device, name })
  const flags = libvirt.DomainXMLFlags.inactive
  const { xml } = await host.link.call(libvirt.domainGetXmlDesc, { dom, flags })
  const { redefine, current } = libvirt.DomainSnapshotCreateFlags
  const seconds = Math.floor(host.clock.now().getTime() / 1000)
  const xmlDesc = renderElement(
    snapshotElement(
      name,
      element('state', {}, 'shutoff'),
      element('creationTime', {}, seconds),
      readXml(xml, { bytesMax: XML_BYTES_MAX }),
    ),
  )
  await host.link.call(libvirt.domainSnapshotCreateXml, {
    dom,
    xmlDesc,
    flags: redefine | current,
  })
}

function snapshotElement(name: string, ...more: readonly Element[]): Element {
  return element(
    'domainsnapshot',
    {},
    element('name', {}, name),
    ...more,
    // The seed is read-only, and libvirt takes no snapshots of read-only disks.
    element('disks', {}, element('disk', { name: 'vda', snapshot: 'internal' })),
  )
}

async function describe({ link }: Host, snap: libvirt.DomainSnapshot): Promise<Snapshot> {
  const [{ xml }, { current }] = await Promise.all([
    link.call(libvirt.domainSnapshotGetXmlDesc, { snap, flags: 0 }),
    link.call(libvirt.domainSnapshotIsCurrent, { snap, flags: 0 }),
  ])
  const document = readXml(xml, { bytesMax: XML_BYTES_MAX })
  const seconds = Number(text(find(document, 'creationTime')) ?? 0)
  return {
    name: snap.name,
    createdAt: new Date(seconds * 1000).toISOString(),
    memory: keepsMemory(document),
    current: current === 1,
  }
}
