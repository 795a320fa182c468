import { readdir, rm } from 'node:fs/promises'
import { resolve } from 'node:path'

import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { holdSite } from '../../terminal/only-one.ts'
import { showProgress } from '../../terminal/progress.ts'
import { stopSite } from '../../up/servers/stop-site.ts'
import { unitFile } from '../../up/servers/units.ts'
import { removeUsers } from '../../up/servers/users.ts'
import { readMarks, readSettled } from '../../up/site/keep.ts'
import { DIRECTORY, siteOf, type Site } from '../../up/site/site.ts'

/** vmd's state as a host of a cloud: its identity and its VMs. */
const MEMBERSHIP = '/var/lib/skerry/cloud'

export const down = command({
  name: 'down',
  asks: 'none',
  usage: '',
  summary: 'stop the servers started by skerry up; guests, disks and all data stay',
  examples: ['sudo skerry down', 'sudo skerry down --forget'],
  next: 'skerry up starts them again',
  options: {
    dir: {
      type: 'string',
      value: 'DIR',
      doc: `directory given to skerry up (default: ${DIRECTORY})`,
    },
    forget: {
      type: 'boolean',
      doc: 'also delete everything that skerry up created; cannot be undone',
    },
    yes: { type: 'boolean', doc: 'with --forget: do not ask for confirmation' },
  },
  async run(context, { options: { dir: directory = DIRECTORY, forget, yes }, json }) {
    if (context.uid !== 0) {
      throw new Failure('refused', 'skerry down must run as root', {
        hint: 'sudo skerry down',
      })
    }
    const dir = resolve(directory)
    await using _ = await holdSite(dir)
    const settled = await readSettled(dir)
    if (!settled) {
      context.print(
        json ? JSON.stringify({ dir, stopped: [], forgot: false }) : `no site in ${dir}`,
      )
      return
    }
    const site = siteOf(dir, settled, process.execPath)
    // Ask before stopping anything: after a "no" everything stays as it is.
    if (forget === true) await requireForgettable(context, site, yes === true)
    const stopped = await showProgress(context, 'stopping', async (report) =>
      stopSite(context, site, (title) => report(undefined, `stopping ${title}`)),
    )
    if (forget === true) await forgetSite(site)
    if (json)
      return context.print(JSON.stringify({ dir, stopped, forgot: forget === true }, null, 2))
    context.print(stopped.length === 0 ? 'no server was running' : `stopped: ${stopped.join(', ')}`)
    context.print(forget === true ? `${dir} deleted` : 'guests keep running; next: skerry up')
  },
})

const isMember = async (dir: string): Promise<boolean> => (await readMarks(dir)).has('membership')

async function requireForgettable(
  { confirm }: CliContext,
  { dir, settled }: Site,
  isSure: boolean,
): Promise<void> {
  const records = (await isMember(dir)) ? await readdir(`${MEMBERSHIP}/vms`).catch(() => []) : []
  const vms = records.filter((name) => name.endsWith('.json')).length
  if (vms > 0) {
    throw new Failure('refused', `${vms} VMs of this cloud are on this machine`, {
      hint: 'delete their vApps first: this is impossible once the cloud is deleted',
    })
  }
  const elsewhere = settled.databases ? ' The external databases stay.' : ''
  const question = `Permanently delete ${dir} with its databases, images and keys?${elsewhere}`
  if (isSure || (await confirm(question))) return
  throw new Failure('refused', 'not confirmed: nothing was stopped or deleted', {
    hint: 'skerry down stops the servers and keeps the data; skerry down --forget --yes does not ask',
  })
}

/** Deletes the directory last, and settled.json last in it, so that an interrupted run can be repeated. */
async function forgetSite({ dir, settled, servers }: Site): Promise<void> {
  if (settled.requested.systemd) {
    for (const { name } of servers) await rm(unitFile(name), { force: true })
  }
  // A machine that never joined this cloud may be a host of another cloud.
  if (await isMember(dir)) await rm(MEMBERSHIP, { recursive: true, force: true })
  await removeUsers(dir)
  for (const name of await readdir(dir)) {
    if (name !== 'settled.json') await rm(`${dir}/${name}`, { recursive: true, force: true })
  }
  await rm(dir, { recursive: true, force: true })
}
