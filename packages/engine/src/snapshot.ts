import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { mayDo, whyNotSnapshotName, type Snapshot } from '@skerry/vm'
import { attribute, element, find, readXml, renderElement, text, type Element } from '@skerry/xml'

import { requireBridge } from './bridge.ts'
import { bridgeOf } from './domain-xml.ts'
import { findVm, readFacts, type Found } from './find-domain.ts'
import { findSnapshot, lookUpSnapshot } from './find-snapshot.ts'
import type { Host } from './host.ts'
import { MEMORY_TIMEOUT_MS } from './link.ts'
import { askMonitor } from './monitor.ts'
import { readOpenDisk } from './open-disk.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner } from './record.ts'
import { closeShare, openShare, requireUnshared, withoutShare } from './share.ts'
import { requireRoom } from './space.ts'
import { findSettled, writtenDown } from './under-way.ts'

const DISK_BYTES = 8 * 1024 * 1024
const XML_BYTES_MAX = 8 * 1024 * 1024

export interface NewSnapshot {
  readonly name: string
  /** Keep the memory too. Only of a guest that runs; left out, that is what it is. */
  readonly memory?: boolean
}

/** Keeps the VM as it is now, inside its disk. */
export function createSnapshot(
  host: Host,
  id: string,
  asked: NewSnapshot,
  owner?: Owner,
): Promise<Snapshot> {
  return host.turns.take(id, async () => {
    const why = whyNotSnapshotName(asked.name)
    if (why !== undefined) throw new Fault('invalid', why)
    const found = await findSettled(host, id, owner)
    const { power } = await readPowerOf(host, found.dom)
    if (!mayDo('snapshot', power)) {
      throw new Fault('conflict', `VM ${id} is ${power} and cannot be snapshotted`, {
        hint: `turn VM ${id} on first`,
        state: power,
      })
    }
    if (await lookUpSnapshot(host, found.dom, asked.name)) {
      throw new Fault('conflict', `VM ${id} already has a snapshot ${asked.name}`, {
        hint: 'choose another name, or remove that snapshot first',
      })
    }
    const runs = power !== 'off'
    const memory = asked.memory ?? runs
    if (memory && !runs) {
      throw new Fault('conflict', `VM ${id} is off and has no memory to keep`, {
        hint: 'leave memory out',
        state: power,
      })
    }
    const { memoryMiB } = await readFacts(host, found.dom)
    const bytes = DISK_BYTES + (memory ? memoryMiB * 1024 ** 2 : 0)
    await requireRoom(host.paths.data, bytes, `a snapshot of VM ${id}`)
    if (memory && power === 'paused') await requireUnshared(host, found.record, found.dom)
    const way = !runs ? keepWhole : memory ? keepRunning : keepDiskOf
    await writtenDown(host, found, { change: 'keep', snapshot: asked.name, power }, () =>
      way(host, found, asked.name),
    )
    return readSnapshot(host, id, asked.name, owner)
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

/** Brings the VM back to what it was; a running guest goes on from there if its memory was kept. */
export function revertSnapshot(host: Host, id: string, name: string, owner?: Owner): Promise<void> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id, owner)
    const { record, dom } = found
    const { power } = await readPowerOf(host, dom)
    if (!mayDo('revert', power)) {
      throw new Fault('conflict', `VM ${id} is ${power} and cannot be brought back`, {
        hint: `turn VM ${id} on first, or delete it`,
        state: power,
      })
    }
    const snap = await findSnapshot(host, id, dom, name)
    await requireItsBridge(host, snap)
    const runs = power !== 'off'
    if (power === 'paused') await requireUnshared(host, record, dom)
    const revert = () =>
      host.link.call(
        libvirt.domainRevertToSnapshot,
        { snap, flags: libvirt.DomainSnapshotRevertFlags.force },
        { timeoutMs: MEMORY_TIMEOUT_MS },
      )
    await writtenDown(host, found, { change: 'revert', snapshot: name, power }, () =>
      runs ? withoutShare(host, record, dom, revert) : revert(),
    )
    const after = await readPowerOf(host, dom)
    if (record.sharing && after.power === 'on') await openShare(host, record, dom)
    if (after.power === 'off') await closeShare(host, record)
  })
}

/** With its memory a guest runs at once, on the network that it was on. */
async function requireItsBridge(host: Host, snap: libvirt.DomainSnapshot): Promise<void> {
  const { xml } = await host.link.call(libvirt.domainSnapshotGetXmlDesc, { snap, flags: 0 })
  const document = readXml(xml, { bytesMax: XML_BYTES_MAX })
  if (keepsMemory(document)) await requireBridge(host, bridgeOf(find(document, 'domain')))
}

const keepsMemory = (document: Element): boolean =>
  attribute(find(document, 'memory'), 'snapshot') === 'internal'

export function removeSnapshot(host: Host, id: string, name: string, owner?: Owner): Promise<void> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id, owner)
    const { power } = await readPowerOf(host, found.dom)
    const snap = await findSnapshot(host, id, found.dom, name)
    await writtenDown(host, found, { change: 'remove', snapshot: name, power }, () =>
      host.link.call(
        libvirt.domainSnapshotDelete,
        { snap, flags: 0 },
        { timeoutMs: MEMORY_TIMEOUT_MS },
      ),
    )
  })
}

function keepWhole({ link }: Host, { dom }: Found, name: string): Promise<unknown> {
  return link.call(
    libvirt.domainSnapshotCreateXml,
    { dom, xmlDesc: renderElement(snapshotElement(name)), flags: 0 },
    { timeoutMs: MEMORY_TIMEOUT_MS },
  )
}

async function keepRunning(host: Host, found: Found, name: string): Promise<void> {
  await withoutShare(host, found.record, found.dom, () => keepWhole(host, found, name), 'goes on')
}

/**
 * The disk alone, while the guest runs. libvirt keeps a running guest's disk only as a new layer,
 * which it cannot go back to; QEMU itself keeps it inside the disk. libvirt is then told of it as
 * of one that was taken while the VM was off, which is what it is good for.
 */
async function keepDiskOf(host: Host, { dom }: Found, name: string): Promise<void> {
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
    // The seed is read-only, and of such a disk libvirt keeps nothing.
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
