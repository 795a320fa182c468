// A site as data: its files and its servers, all of it derived from where it is and what was settled.
import { join } from 'node:path'

import { postgresWords } from '@skerry/site'

import { listenFor, type Settled } from './settled.ts'

export const DIRECTORY = '/var/lib/skerry/site'
export const names = { org: 'home', user: 'owner', template: 'debian-12' } as const
export const databases = { cloud: 'cloud', workflow: 'workflow' } as const

const APPS = join(import.meta.dirname, '../../..')
const program = (app: string): string => join(APPS, app, 'src/main.ts')
export const cloudProgram = program('cloud')
export const vmdProgram = program('vmd')

export type ServerName =
  | 'postgres'
  | 'temporal'
  | 'cell'
  | 'console'
  | 'egress'
  | 'workflow'
  | 'worker'
  | 'vmd'

export interface Server {
  readonly name: ServerName
  /** What people call it. */
  readonly title: string
  readonly command: readonly string[]
  /** Whom it runs as; root unless told. */
  readonly user?: string
  readonly log: string
  /** Where it listens when it is up, as ADDRESS:PORT. */
  readonly listens: readonly string[]
  /** A program that ends well once it serves, where listening is not yet serving. */
  readonly ready?: readonly string[]
  /** How it is asked to end. */
  readonly ends: 'SIGINT' | 'SIGTERM'
  /** What must be up before it. */
  readonly after: readonly ServerName[]
}

export interface Site {
  readonly dir: string
  readonly settled: Settled
  readonly servers: readonly Server[]
}

export const files = (dir: string) => ({
  settled: join(dir, 'settled.json'),
  passwords: join(dir, 'passwords.json'),
  /** There once the password was shown. */
  told: join(dir, 'told'),
  ca: join(dir, 'ca.pem'),
  /** A file for each thing that is made, once it is. */
  made: join(dir, 'made'),
  logs: join(dir, 'log'),
  postgres: join(dir, 'postgres'),
  data: join(dir, 'postgres', 'data'),
  temporal: join(dir, 'temporal'),
  temporalSettings: join(dir, 'temporal', 'settings.yaml'),
  temporalDynamic: join(dir, 'temporal', 'dynamic.yaml'),
  cloud: join(dir, 'cloud', 'cloud.json'),
  images: join(dir, 'images'),
  console: join(dir, 'console'),
  workflow: join(dir, 'workflow'),
  /** By which this machine joins. */
  invitation: join(dir, 'invitation.json'),
  image: join(dir, 'debian-12.qcow2'),
})

/** `node`: the program that runs ours. */
export function siteOf(dir: string, settled: Settled, node: string): Site {
  const at = files(dir)
  const ours = (app: string, ...words: string[]) => [node, program(app), ...words]
  const server = (
    name: ServerName,
    title: string,
    command: readonly string[],
    more: Partial<Server> = {},
  ): Server => ({
    ...{ name, title, command, log: join(at.logs, `${name}.log`) },
    ...{ listens: [], ends: 'SIGTERM', after: [], ...more },
  })
  const workflow = (only: string) =>
    ours('workflow', '--config', join(at.workflow, 'workflow.json'), '--only', only)
  const { postgres, temporal, base, console: screens, machines, hostApi } = settled
  const engines: Server[] = []
  if (postgres) {
    const words = postgresWords({ data: at.data, port: postgres.port })
    const asks = ['-q', '-h', '127.0.0.1', '-p', String(postgres.port)]
    engines.push(
      server('postgres', 'PostgreSQL', [join(postgres.bin, 'postgres'), ...words], {
        ...{ user: 'postgres', ends: 'SIGINT', listens: [`127.0.0.1:${postgres.port}`] },
        ready: [join(postgres.bin, 'pg_isready'), ...asks],
      }),
    )
  }
  if (temporal.programs) {
    const words = ['--config-file', at.temporalSettings, '--allow-no-auth', 'start']
    engines.push(
      server('temporal', 'Temporal', [temporal.programs.server, ...words], {
        ...{ listens: [temporal.address], after: ['postgres'] },
      }),
    )
  }
  const below = engines.map(({ name }) => name)
  const servers = [
    ...engines,
    server('cell', 'the cloud', ours('cloud', 'serve', '--config', at.cloud), {
      ...{ listens: [listenFor(base), machines], after: below },
    }),
    server(
      'console',
      'the console',
      ours('console', '--config', join(at.console, 'console.json')),
      { listens: [listenFor(screens)], after: below },
    ),
    server('egress', 'the way out of workflows', ours('egress', join(at.workflow, 'egress.json'))),
    server('workflow', 'the workflow server', workflow('api'), {
      ...{ listens: [listenFor(settled.workflow)], after: [...below, 'egress'] },
    }),
    server('worker', 'the worker of workflows', workflow('worker'), {
      ...{ after: [...below, 'egress'] },
    }),
    server('vmd', 'vmd', ours('vmd', '--host-api', hostApi), { listens: ['127.0.0.1:8080'] }),
  ]
  return { dir, settled, servers }
}

/** With the password of our own PostgreSQL, where it is ours. */
export const urlsOfDatabases = (
  { databases: given, postgres }: Settled,
  password: string,
): { readonly cloud: string; readonly workflow: string } => {
  const url = (name: string) =>
    `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${postgres?.port}/${name}`
  return given ?? { cloud: url(databases.cloud), workflow: url(databases.workflow) }
}
