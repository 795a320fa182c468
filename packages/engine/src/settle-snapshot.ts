import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { readFacts, type Found } from './find-domain.ts'
import { lookUpSnapshot } from './find-snapshot.ts'
import type { Host } from './host.ts'
import { askMonitor } from './monitor.ts'
import { readOpenDisk } from './open-disk.ts'
import { runTool } from './tool.ts'

/** A snapshot is whole when both the disk has it and libvirt knows it; a half of one is taken away. */
export async function settleSnapshot(
  host: Host,
  { dom }: Found,
  power: PowerState,
  name: string,
): Promise<void> {
  await describeAnew(host, dom)
  const inside = ['on', 'paused'].includes(power)
    ? await insideOpen(host, dom)
    : await insideClosed(host, dom)
  const snap = await lookUpSnapshot(host, dom, name)
  const isKept = inside.names.includes(name)
  if (snap && !isKept) {
    const flags = libvirt.DomainSnapshotDeleteFlags.metadataOnly
    await host.link.call(libvirt.domainSnapshotDelete, { snap, flags })
  }
  if (!snap && isKept) await inside.remove(name)
}

/**
 * libvirt writes the description of a snapshot under another name first. One that a crash has left so is read at every start of
 * libvirt, and is still there when the snapshot is removed. Described once more, it has its own name.
 */
async function describeAnew({ link }: Host, dom: libvirt.Domain): Promise<void> {
  const { snapshots } = await link.call(libvirt.domainListAllSnapshots, {
    ...{ dom, needResults: 1, flags: 0 },
  })
  const { redefine, current } = libvirt.DomainSnapshotCreateFlags
  for (const snap of snapshots) {
    const { secure } = libvirt.DomainSnapshotXMLFlags
    const { xml: xmlDesc } = await link.call(libvirt.domainSnapshotGetXmlDesc, {
      ...{ snap, flags: secure },
    })
    const is = await link.call(libvirt.domainSnapshotIsCurrent, { snap, flags: 0 })
    const flags = redefine | (is.current === 1 ? current : 0)
    await link.call(libvirt.domainSnapshotCreateXml, { dom, xmlDesc, flags })
  }
}

interface Inside {
  readonly names: readonly string[]
  remove(name: string): Promise<unknown>
}

async function insideOpen(host: Host, dom: libvirt.Domain): Promise<Inside> {
  const { node: device, snapshots } = await readOpenDisk(host, dom)
  return {
    names: snapshots,
    remove: (name) =>
      askMonitor(host, dom, 'blockdev-snapshot-delete-internal-sync', { device, name }),
  }
}

async function insideClosed(host: Host, dom: libvirt.Domain): Promise<Inside> {
  const { disk } = await readFacts(host, dom, 'next')
  const image = `driver=qcow2,file.driver=file,file.filename=${disk}`
  const info = await runTool('qemu-img', ['info', '--output=json', '-f', 'qcow2', disk])
  const { snapshots = [] } = JSON.parse(info) as { snapshots?: { name: string }[] }
  return {
    names: snapshots.map((snapshot) => snapshot.name),
    remove: (name) => runTool('qemu-img', ['snapshot', '-q', '--image-opts', '-d', name, image]),
  }
}
