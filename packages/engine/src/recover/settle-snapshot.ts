import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { readOpenDisk } from '../disk/open-disk.ts'
import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import { askMonitor } from '../domain/monitor.ts'
import type { Host } from '../host/host.ts'
import { runTool } from '../host/tool.ts'
import { lookUpSnapshot } from './find-snapshot.ts'

/** A snapshot is complete if it exists both in the disk and in libvirt; an incomplete one is removed. */
export async function settleSnapshot(
  host: Host,
  { dom }: FoundVm,
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
 * libvirt first writes a snapshot's metadata under a temporary name. If a crash leaves that file, libvirt reads it at every
 * start, and it remains when the snapshot is removed. Redefining the snapshot gives the file its proper name.
 */
async function describeAnew({ link }: Host, dom: libvirt.Domain): Promise<void> {
  const { snapshots } = await link.call(libvirt.domainListAllSnapshots, {
    dom,
    needResults: 1,
    flags: 0,
  })
  const { redefine, current } = libvirt.DomainSnapshotCreateFlags
  for (const snap of snapshots) {
    const { secure } = libvirt.DomainSnapshotXMLFlags
    const { xml: xmlDesc } = await link.call(libvirt.domainSnapshotGetXmlDesc, {
      snap,
      flags: secure,
    })
    const is = await link.call(libvirt.domainSnapshotIsCurrent, { snap, flags: 0 })
    const flags = redefine | (is.current === 1 ? current : 0)
    await link.call(libvirt.domainSnapshotCreateXml, { dom, xmlDesc, flags })
  }
}

interface InternalSnapshots {
  readonly names: readonly string[]
  remove(name: string): Promise<unknown>
}

async function insideOpen(host: Host, dom: libvirt.Domain): Promise<InternalSnapshots> {
  const { node: device, snapshots } = await readOpenDisk(host, dom)
  return {
    names: snapshots,
    remove: (name) =>
      askMonitor(host, dom, 'blockdev-snapshot-delete-internal-sync', { device, name }),
  }
}

async function insideClosed(host: Host, dom: libvirt.Domain): Promise<InternalSnapshots> {
  const { disk } = await readFacts(host, dom, 'next')
  const image = `driver=qcow2,file.driver=file,file.filename=${disk}`
  const info = await runTool('qemu-img', ['info', '--output=json', '-f', 'qcow2', disk])
  const { snapshots = [] } = JSON.parse(info) as { snapshots?: { name: string }[] }
  return {
    names: snapshots.map((snapshot) => snapshot.name),
    remove: (name) => runTool('qemu-img', ['snapshot', '-q', '--image-opts', '-d', name, image]),
  }
}
