import { readdir, rm } from 'node:fs/promises'
import { resolve } from 'node:path'

import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { showProgress } from '../progress.ts'
import { readMarks, readSettled } from '../up/keep.ts'
import { holdSite } from '../up/only-one.ts'
import { DIRECTORY, siteOf, type Site } from '../up/site.ts'
import { stopSite } from '../up/stop-site.ts'
import { unitFile } from '../up/units.ts'

/** What vmd has of a cloud on this machine: who it is there, and the VMs. */
const MEMBERSHIP = '/var/lib/skerry/cloud'

export const down = command({
  name: 'down',
  asks: 'nobody',
  usage: '',
  summary: 'stop what skerry up started; guests, disks and all data stay',
  examples: ['sudo skerry down', 'sudo skerry down --forget'],
  next: 'skerry up goes on where it was',
  options: {
    dir: { type: 'string', value: 'DIR', doc: `the one of skerry up; ${DIRECTORY} unless told` },
    forget: { type: 'boolean', doc: 'remove all that skerry up made too, which cannot be undone' },
    yes: { type: 'boolean', doc: 'with --forget: do not ask' },
  },
  async run(world, { options: { dir: told = DIRECTORY, forget, yes }, json }) {
    if (world.uid !== 0) {
      throw new Failure('refused', 'what root started is stopped by root', {
        hint: 'sudo skerry down',
      })
    }
    const dir = resolve(told)
    await using _ = await holdSite(dir)
    const settled = await readSettled(dir)
    if (!settled) {
      world.print(
        json ? JSON.stringify({ dir, stopped: [], forgot: false }) : `nothing is up in ${dir}`,
      )
      return
    }
    const site = siteOf(dir, settled, process.execPath)
    // Asked before anything is stopped: who says no keeps all as it is.
    if (forget === true) await requireForgettable(world, site, yes === true)
    const stopped = await showProgress(world, 'stopping', async (tell) =>
      stopSite(world, site, (title) => tell(undefined, `stopping ${title}`)),
    )
    if (forget === true) await forgetSite(site)
    if (json) return world.print(JSON.stringify({ dir, stopped, forgot: forget === true }, null, 2))
    world.print(stopped.length === 0 ? 'nothing ran' : `stopped: ${stopped.join(', ')}`)
    world.print(forget === true ? `${dir} is gone` : 'guests go on; next: skerry up')
  },
})

const isMember = async (dir: string): Promise<boolean> => (await readMarks(dir)).has('membership')

async function requireForgettable(
  { confirm }: World,
  { dir, settled }: Site,
  isSure: boolean,
): Promise<void> {
  const records = (await isMember(dir)) ? await readdir(`${MEMBERSHIP}/vms`).catch(() => []) : []
  const vms = records.filter((name) => name.endsWith('.json')).length
  if (vms > 0) {
    throw new Failure('refused', `${vms} VMs of this cloud are on this machine`, {
      hint: 'delete their vApps first: once the cloud is forgotten nobody could',
    })
  }
  const elsewhere = settled.databases ? ' The databases that it was given stay.' : ''
  const question = `Remove ${dir} with its databases, images and keys, for good?${elsewhere}`
  if (isSure || (await confirm(question))) return
  throw new Failure('refused', 'nothing was stopped and nothing removed', {
    hint: 'skerry down stops all and keeps it; skerry down --forget --yes does not ask',
  })
}

/** The directory last, and what was settled last in it: cut short, it can be done again. */
async function forgetSite({ dir, settled, servers }: Site): Promise<void> {
  if (settled.asked.systemd) {
    for (const { name } of servers) await rm(unitFile(name), { force: true })
  }
  // A machine that never joined this cloud may be a host of another one.
  if (await isMember(dir)) await rm(MEMBERSHIP, { recursive: true, force: true })
  for (const name of await readdir(dir)) {
    if (name !== 'settled.json') await rm(`${dir}/${name}`, { recursive: true, force: true })
  }
  await rm(dir, { recursive: true, force: true })
}
