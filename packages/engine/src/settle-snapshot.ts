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
