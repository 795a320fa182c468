// The workflow servers of a lab's cloud, each with its own database and egress.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Postgres } from '../postgres/postgres.ts'
import { labServer, type LabServer } from '../servers/server-process.ts'
import type { Administer } from './administer.ts'
import type { CellPlan, WorkflowPlan } from './cloud-plan.ts'

const SERVER = join(import.meta.dirname, '../../../../apps/workflow/src/main.ts')
const EGRESS = join(import.meta.dirname, '../../../../apps/egress/src/main.ts')

export interface LabWorkflow extends LabServer {
  /** The configuration that `skerry admin workflow-server create` wrote. */
  readonly config: string
  readonly database: string
  /** The separate process that runs its workflows. */
  readonly worker: LabServer
  readonly egress: LabServer
}

interface Beside {
  readonly administer: Administer
  readonly postgres: Postgres
  readonly cells: readonly CellPlan[]
}

/** Creates and starts the workflow servers of a plan, or those of them that are down. */
export async function startWorkflows(
  plans: readonly WorkflowPlan[],
  { administer, postgres, cells }: Beside,
  started: { readonly netns: string; readonly outlives: boolean },
): Promise<readonly LabWorkflow[]> {
  const apis = cells.map(({ machines }) => `${machines.address}:${machines.port}`).join(',')
  for (const { name, dir, config, url, address, port, machines, database } of plans) {
    if (existsSync(config)) continue
    const there = await postgres.psql(`select 1 from pg_database where datname = '${database}'`)
    if (there === '') await postgres.psql(`create database ${database}`)
    await administer([
      'workflow-server',
      'create',
      name,
      '--out',
      dir,
      '--url',
      url,
      '--cells',
      apis,
      '--listen',
      `${address}:${port}`,
      '--machines',
      machines,
      '--database',
      postgres.urlOf(database),
      // The two servers share no runs.
      '--namespace',
      name,
    ])
  }
  const all: LabWorkflow[] = []
  for (const plan of plans) {
    for (const dir of [plan.egress, plan.worker]) await mkdir(dir, { recursive: true })
    const { config, database } = plan
    const egress = labEgress(plan, started)
    const server = labWorkflow(plan, 'api', started)
    const worker = labWorkflow(plan, 'worker', started)
    for (const each of [egress, server, worker]) await each.start()
    const beside = { config, database, worker, egress }
    // A getter for its pid, which is looked up at each read.
    all.push(
      Object.defineProperties(beside, Object.getOwnPropertyDescriptors(server)) as LabWorkflow,
    )
  }
  return all
}

const labWorkflow = (
  { name, dir, worker, config, url, port }: WorkflowPlan,
  only: 'api' | 'worker',
  started: { readonly netns: string; readonly outlives: boolean },
): LabServer =>
  labServer({
    ...(only === 'api'
      ? { name, dir, ports: [port], log: logOf(dir) }
      : { name: `worker of ${name}`, dir: worker, ports: [], log: join(worker, 'worker.log') }),
    ...started,
    url,
    command: [process.execPath, SERVER, '--config', config, '--only', only],
  })

const labEgress = (
  { name, dir, egress }: WorkflowPlan,
  started: { readonly netns: string; readonly outlives: boolean },
): LabServer =>
  labServer({
    ...started,
    name: `egress of ${name}`,
    dir: egress,
    url: join(dir, 'egress', 'egress.sock'),
    ports: [],
    log: join(egress, 'egress.log'),
    command: [process.execPath, EGRESS, join(dir, 'egress.json')],
  })

export const logOf = (dir: string): string => join(dir, 'workflow.log')
