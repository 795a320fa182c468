// kill -9 of the only cell in the middle of an apply and of a destroy: both end well when it is started again, and nothing is made twice.
import { until } from '@skerry/lab'

import type { CloudSite } from './cloud-site.ts'
import { Workspace, type Site } from './workspace.ts'

const NAME = 'through-kills'

/** Seconds of the apply and of the destroy. */
export async function applyThroughKills(
  site: Site,
  { cloud, api }: CloudSite,
): Promise<Readonly<Record<'apply' | 'destroy', number>>> {
  const [cell] = cloud.cells
  if (!cell) throw new TypeError('the cloud has no cell')
  const variables = { template: 'small', name: NAME, memory_mb: 128 }
  const workspace = await Workspace.open(site, 'vm')
  const killWhen = async (event: string, happened: () => Promise<boolean>) => {
    await until(event, happened, 300_000)
    await cell.kill9()
    await cell.start()
  }
  const tasksOf = async (operation: string): Promise<boolean> => {
    const found = await cloud.db
      .selectFrom('task')
      .innerJoin('vapp', 'vapp.id', 'task.vapp')
      .select('task.operation')
      .where('vapp.name', '=', NAME)
      .execute()
    return found.some((each) => each.operation.includes(operation))
  }
  const [applied] = await Promise.all([
    workspace.apply(variables),
    killWhen('the VM is being created', () => tasksOf('')),
  ])
  const made = await api.names('vApp', `name==${NAME}`)
  if (made.length !== 1) throw new Error(`${made.length} vApps were created`)
  const { differs, ended } = await workspace.plan(variables)
  if (differs) throw new Error(`a difference after an apply through kill -9:\n${ended.text}`)
  const [destroyed] = await Promise.all([
    workspace.destroy(variables),
    killWhen(
      'the VM is being deleted',
      async () => (await tasksOf('elete')) || !(await isThere(cloud)),
    ),
  ])
  const left = await api.names('vApp', `name==${NAME}`)
  if (left.length > 0) throw new Error(`destroy left ${left.join(', ')}`)
  await workspace.close()
  return { apply: applied.seconds, destroy: destroyed.seconds }
}

async function isThere({ db }: CloudSite['cloud']): Promise<boolean> {
  const rows = await db.selectFrom('vapp').select('id').where('name', '=', NAME).execute()
  return rows.length > 0
}
