import { Fault } from '@skerry/fault'
import type * as libvirt from '@skerry/libvirt'

import { askMonitor } from '../domain/monitor.ts'
import type { Host } from '../host/host.ts'

/** A disk as its running QEMU sees it. */
export interface OpenDisk {
  /** QEMU's node name of the active layer. */
  readonly node: string
  readonly file: string
  /** The names of its internal snapshots. */
  readonly snapshots: readonly string[]
}

/** QEMU's active layer: the first disk, under libvirt's alias. */
export async function readOpenDisk(host: Host, dom: libvirt.Domain): Promise<OpenDisk> {
  const blocks = (await askMonitor(host, dom, 'query-block')) as {
    qdev?: string
    inserted?: {
      'node-name': string
      image: { filename: string; snapshots?: { name: string }[] }
    }
  }[]
  const disk = blocks.find(({ qdev }) => qdev?.includes('/virtio-disk0/'))?.inserted
  if (!disk) throw new Fault('unavailable', `QEMU does not list the disk of ${dom.name}`)
  const { filename, snapshots = [] } = disk.image
  return {
    node: disk['node-name'],
    file: fileOf(filename),
    snapshots: snapshots.map(({ name }) => name),
  }
}

/** If a layer was opened over a backing file other than its header's, QEMU reports the open options as JSON. */
export function fileOf(filename: string): string {
  if (!filename.startsWith('json:')) return filename
  const { file } = JSON.parse(filename.slice('json:'.length)) as { file?: { filename?: string } }
  return file?.filename ?? filename
}
