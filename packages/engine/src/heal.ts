import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { domainName } from './definition.ts'
import { discard } from './delete.ts'
import { hasData, layersAbove, readLayers } from './disk.ts'
import { lookUp, readFacts, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { settleShare } from './keep-shares.ts'
import { unmount } from './mounts.ts'
import { asideDirectory, lifeDirectory, templatesDirectory } from './paths.ts'
import { readPowerOf } from './read-power.ts'
import type { VmRecord } from './record.ts'
import { redefine } from './redefine.ts'

/**
 * Puts the host in order after anything died: what was half made or half deleted is taken away,
 * a layer that no definition names is taken away or taken over, and the folders of running guests
 * are put back. Each VM in its own turn, so that work under way is not disturbed.
 */
export async function heal(host: Host): Promise<void> {
  await Promise.all(
    host.records.all().map(({ id }) =>
      host.turns
        .take(id, async () => {
          const record = host.records.get(id)
          if (record) await healVm(host, record)
        })
        .catch((error: unknown) => host.note(`VM ${id} could not be put in order`, error)),
    ),
  )
  await clearUnfinished(host)
}

async function healVm(host: Host, record: VmRecord): Promise<void> {
  if (record.phase !== 'there') return discard(host, record)
  const dom = await lookUp(host, domainName(record))
  if (!dom) {
    host.note(`VM ${record.id} is written down, but libvirt does not know it`)
    return
  }
  const { power } = await readPowerOf(host, dom)
  await clearTemporary(lifeDirectory(host.paths, record))
  if (power === 'off') await settleLayers(host, { record, dom })
  await settleShare(host, { record, dom })
}

/**
 * A power cut may fall between a guest's switch to a new layer and libvirt's writing it down. The
 * guest may have been told by then that its data is safe, so a layer that holds any is taken over.
 */
async function settleLayers(host: Host, found: Found): Promise<void> {
  const { disk } = await readFacts(host, found.dom, 'next')
  const [above, ...more] = await layersAbove(disk)
  if (above === undefined || more.length > 0) return
  if (await hasData(above)) await redefine(host, found, { layers: await readLayers(above) })
  else await rm(above)
}

async function clearTemporary(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.endsWith('.tmp'))) await rm(join(directory, name))
}

async function clearUnfinished(host: Host): Promise<void> {
  await clearTemporary(templatesDirectory(host.paths))
  const aside = asideDirectory(host.paths)
  for (const name of await readdir(aside).catch(() => [])) await unmount(join(aside, name))
}
