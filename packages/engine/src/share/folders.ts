import { Fault } from '@skerry/fault'
import { whyNotGuestPath, type Folder } from '@skerry/vm'

import { findRecord, findVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import type { Host } from '../host/host.ts'
import type { StoredFolder, VmRecord } from '../host/record.ts'
import { checkHostPath } from './host-path.ts'
import { openShare, showFolders } from './share.ts'

/** Turns folder sharing on, immediately if the guest runs. It stays on. */
export function enableSharing(host: Host, id: string): Promise<void> {
  return host.locks.run(id, async () => {
    const { record, dom } = await findVm(host, id)
    const shared = record.sharing ? record : await host.records.write({ ...record, sharing: true })
    const { power } = await readPowerOf(host, dom)
    if (power === 'on') await openShare(host, shared, dom)
  })
}

/** Whether folder sharing is on: without it the guest sees none of the mappings. */
export function isSharing(host: Host, id: string): boolean {
  return findRecord(host, id).sharing
}

export function listFolders(host: Host, id: string): readonly Folder[] {
  return findRecord(host, id).folders.map(publicFolder)
}

export function readFolder(host: Host, id: string, guestPath: string): Folder {
  const folder = listFolders(host, id).find((each) => each.guestPath === guestPath)
  if (folder) return folder
  throw new Fault('not-found', `VM ${id} has no shared folder ${guestPath}`)
}

/** Adds a mapping; adding the same one again is not an error. If `uid` is given, it must own the directory. */
export function addFolder(host: Host, id: string, folder: Folder, uid?: number): Promise<Folder> {
  return host.locks.run(id, async () => {
    const why = whyNotGuestPath(folder.guestPath)
    if (why !== undefined) throw new Fault('invalid', why)
    const record = findRecord(host, id)
    const same = record.folders.find(({ guestPath }) => guestPath === folder.guestPath)
    if (same?.hostPath === folder.hostPath && same.flags === folder.flags) return publicFolder(same)
    if (same) {
      throw new Fault('conflict', `VM ${id} already shares another folder as ${folder.guestPath}`, {
        hint: 'delete that mapping first, or choose another guestPath',
      })
    }
    await checkHostPath(host.paths, folder.hostPath, uid)
    const kept = { ...publicFolder(folder), ...(uid !== undefined && { uid }) }
    await storeFolders(host, record, [...record.folders, kept])
    return folder
  })
}

export function removeFolder(host: Host, id: string, guestPath: string): Promise<void> {
  return host.locks.run(id, async () => {
    readFolder(host, id, guestPath)
    const record = findRecord(host, id)
    await storeFolders(
      host,
      record,
      record.folders.filter((each) => each.guestPath !== guestPath),
    )
  })
}

/** The record changes first; the running guest's view follows it, never the reverse. */
async function storeFolders(
  host: Host,
  record: VmRecord,
  folders: readonly StoredFolder[],
): Promise<void> {
  const kept = await host.records.write({ ...record, folders })
  if (!kept.sharing) return
  const { dom } = await findVm(host, kept.id)
  const { power } = await readPowerOf(host, dom)
  if (power === 'on' || power === 'paused') await showFolders(host, kept)
}

const publicFolder = ({ guestPath, hostPath, flags }: Folder): Folder => ({
  guestPath,
  hostPath,
  flags,
})
