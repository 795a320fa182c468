import { Fault } from '@skerry/fault'
import type * as libvirt from '@skerry/libvirt'

import type { Host } from './host.ts'
import { askMonitor } from './monitor.ts'

/** A disk as the QEMU that runs on it sees it. */
export interface OpenDisk {
  /** QEMU's name for the layer that is written to. */
  readonly node: string
  readonly file: string
  /** The names of the snapshots inside it. */
  readonly snapshots: readonly string[]
}

/** What QEMU writes to now: the first disk, under libvirt's own alias. */
export async function readOpenDisk(host: Host, dom: libvirt.Domain): Promise<OpenDisk> {
  const blocks = (await askMonitor(host, dom, 'query-block')) as {
    qdev?: string
    inserted?: {
      'node-name': string
      image: { filename: string; snapshots?: { name: string }[] }
    }
  }[]
  const disk = blocks.find(({ qdev }) => qdev?.includes('/virtio-disk0/'))?.inserted
  if (!disk) throw new Fault('unavailable', `QEMU does not show the disk of ${dom.name}`)
  const { filename, snapshots = [] } = disk.image
  return {
    node: disk['node-name'],
    file: fileOf(filename),
    snapshots: snapshots.map(({ name }) => name),
  }
}

/** QEMU writes a layer that was opened over another than its header says as the options it was opened with. */
export function fileOf(filename: string): string {
  if (!filename.startsWith('json:')) return filename
  const { file } = JSON.parse(filename.slice('json:'.length)) as { file?: { filename?: string } }
  return file?.filename ?? filename
}
