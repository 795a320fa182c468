import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { checkDisk } from './check-disk.ts'
import { domainName } from './definition.ts'
import { discard } from './delete.ts'
import { lookUp, readFacts } from './find-domain.ts'
import type { Host } from './host.ts'
import { settleShare } from './keep-shares.ts'
import { lifeDirectory } from './paths.ts'
import { readPowerOf } from './read-power.ts'
import type { VmRecord } from './record.ts'
import { settleLayers } from './settle-layers.ts'
import { settleSave } from './settle-save.ts'
import { settleUnderWay } from './under-way.ts'

/** A VM that takes longer, such as one that libvirt is still saving, keeps nobody waiting but those who ask for it. */
const PATIENCE_MS = 60_000

/**
 * Puts the host in order after anything died: what was half made or half deleted is taken away,
 * what was under way is finished or taken back, and the folders of running guests are put back.
 * Each VM in its own turn, so that work under way is not disturbed.
 */
export async function heal(host: Host): Promise<void> {
  const all = host.records.all().map(({ id, owner }) =>
    host.turns
      .take(id, async () => {
        const record = host.records.get(id, owner)
        if (record) await healVm(host, record)
      })
      .catch((error: unknown) => host.note(`VM ${id} could not be put in order`, error)),
  )
  const waiting = new AbortController()
  const late = sleep(PATIENCE_MS, undefined, { signal: waiting.signal }).catch(() => undefined)
  await Promise.race([Promise.all(all), late])
  waiting.abort()
}

async function healVm(host: Host, record: VmRecord): Promise<void> {
  if (record.phase !== 'there') return discard(host, record)
  const dom = await lookUp(host, domainName(record))
  if (!dom) {
    host.note(`VM ${record.id} is written down, but libvirt does not know it`)
    return
  }
  const found = { record: await settleUnderWay(host, { record, dom }), dom }
  const { power } = await readPowerOf(host, dom)
  await clearTemporary(lifeDirectory(host.paths, record))
  await settleSave(host, dom, power)
  await settleLayers(host, found, power)
  await settleShare(host, found)
  if (power === 'off') await checkDisk(host, record, (await readFacts(host, dom)).disk)
}

async function clearTemporary(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.endsWith('.tmp'))) await rm(join(directory, name))
}
