// A site as data: its files and servers, derived from its directory and its plan.
import { join } from 'node:path'

import { postgresWords } from '@skerry/site'

import { listenFor, type SitePlan } from './site-plan.ts'

export const DIRECTORY = '/var/lib/skerry/site'
export const names = { org: 'home', user: 'owner', template: 'debian-12' } as const
export const databases = { cloud: 'cloud', workflow: 'workflow' } as const

const APPS = join(import.meta.dirname, '../../../..')
const program = (app: string): string => join(APPS, app, 'src/main.ts')
export const vmdProgram = program('vmd')

export type ServerName =
  | 'postgres'
  | 'temporal'
  | 'cell'
  | 'console'
  | 'egress'
  | 'workflow'
  | 'worker'
  | 'network'
  | 'vmd'

export const unitName = (name: ServerName): string => `skerry-site-${name}.service`

export interface Server {
  readonly name: ServerName
  /** Display name. */
  readonly title: string
  readonly command: readonly string[]
  /** Default: root. */
  readonly user?: string
  /** Supplementary groups. */
  readonly groups?: readonly string[]
  /** Its configuration file; the user owns it and the files that it names. */
  readonly config?: string
  /** The log file, or the command that shows the log. */
  readonly log: string
  /** Its listeners once it is up, as ADDRESS:PORT. */
  readonly listens: readonly string[]
  /** A readiness probe, for a server that listens before it serves: exits with 0 once it serves. */
  readonly ready?: readonly string[]
  /** The signal that stops it. */
  readonly ends: 'SIGINT' | 'SIGTERM'
  /** Servers that must be up before it. */
  readonly after: readonly ServerName[]
}

/** Users of the servers; created if the Debian package has not created them. */
export const serverUsers = [
  'skerry-cell',
  'skerry-console',
  'skerry-workflow',
  'skerry-egress',
  'skerry-network',
] as const

export interface Site {
  readonly dir: string
  readonly settled: SitePlan
  readonly servers: readonly Server[]
}

export const files = (dir: string) => ({
  settled: join(dir, 'settled.json'),
  passwords: join(dir, 'passwords.json'),
  /** Exists once the password was shown. */
  summary: join(dir, 'summary-shown'),
  ca: join(dir, 'ca.pem'),
  /** Directory with one marker file per completed part. */
  made: join(dir, 'made'),
  logs: join(dir, 'log'),
  postgres: join(dir, 'postgres'),
  data: join(dir, 'postgres', 'data'),
  temporal: join(dir, 'temporal'),
  temporalSettings: join(dir, 'temporal', 'settings.yaml'),
  temporalDynamic: join(dir, 'temporal', 'dynamic.yaml'),
  temporalCertificates: join(dir, 'temporal', 'certificates'),
  cloud: join(dir, 'cloud', 'cloud.json'),
  images: join(dir, 'images'),
  console: join(dir, 'console'),
  workflow: join(dir, 'workflow'),
  egress: join(dir, 'workflow', 'egress.json'),
  egressSocket: join(dir, 'workflow', 'egress', 'egress.sock'),
  network: join(dir, 'network'),
  networkConfig: join(dir, 'network', 'network.json'),
  networkData: join(dir, 'network', 'data'),
  /** The users that were created for this site. */
  users: join(dir, 'users.json'),
  /** The invitation with which this machine joins. */
  invitation: join(dir, 'invitation.json'),
  image: join(dir, 'debian-12.qcow2'),
})

/** `node`: the Node executable. */
export function siteOf(dir: string, settled: SitePlan, node: string): Site {
  const at = files(dir)
  const ours = (app: string, ...words: string[]) => [node, program(app), ...words]
  const logOf = (name: ServerName) =>
    settled.requested.systemd ? `journalctl -u ${unitName(name)}` : join(at.logs, `${name}.log`)
  const server: MakeServer = (name, title, command, more = {}) => ({
    name,
    title,
    command,
    log: logOf(name),
    listens: [],
    ends: 'SIGTERM',
    after: [],
    ...more,
  })
  const config = join(at.workflow, 'workflow.json')
  const workflow = (only: string) => ours('workflow', '--config', config, '--only', only)
  // Only members of its group may use the socket of the egress.
  const runs = { user: 'skerry-workflow', groups: ['skerry-egress'], config }
  const { base, console: screens, machines, hostApi, workflowMachines } = settled
  const engines = enginesOf(at, settled, server)
  const below = engines.map(({ name }) => name)
  const servers = [
    ...engines,
    server('cell', 'the cloud', ours('cloud', '--config', at.cloud), {
      listens: [listenFor(base), machines],
      after: below,
      user: 'skerry-cell',
      groups: ['skerry-egress'],
      config: at.cloud,
    }),
    server(
      'console',
      'the console',
      ours('console', '--config', join(at.console, 'console.json')),
      {
        listens: [listenFor(screens)],
        after: below,
        user: 'skerry-console',
        config: join(at.console, 'console.json'),
      },
    ),
    server('egress', 'the workflow egress', ours('egress', at.egress), {
      user: 'skerry-egress',
      config: at.egress,
    }),
    server('workflow', 'the workflow server', workflow('api'), {
      listens: [listenFor(settled.workflow), ...(workflowMachines ? [workflowMachines] : [])],
      after: [...below, 'egress'],
      ...runs,
    }),
    server('worker', 'the workflow worker', workflow('worker'), {
      after: [...below, 'egress'],
      ...runs,
    }),
    ...(settled.network === undefined
      ? []
      : [
          // It listens once its databases are complete; the cloud works without it.
          server('network', 'the network server', ours('network', '--config', at.networkConfig), {
            after: [...below, 'cell'],
            user: 'skerry-network',
            config: at.networkConfig,
          }),
        ]),
    server('vmd', 'vmd', ours('vmd', '--host-api', hostApi), { listens: ['127.0.0.1:8080'] }),
  ]
  return { dir, settled, servers }
}

type MakeServer = (
  name: ServerName,
  title: string,
  command: readonly string[],
  more?: Partial<Server>,
) => Server

/** PostgreSQL and Temporal, unless the site uses existing ones. */
function enginesOf(
  at: ReturnType<typeof files>,
  { postgres, temporal }: SitePlan,
  server: MakeServer,
): readonly Server[] {
  const engines: Server[] = []
  if (postgres) {
    const words = postgresWords({ data: at.data, port: postgres.port })
    const asks = ['-q', '-h', '127.0.0.1', '-p', String(postgres.port)]
    engines.push(
      server('postgres', 'PostgreSQL', [join(postgres.bin, 'postgres'), ...words], {
        user: 'postgres',
        ends: 'SIGINT',
        listens: [`127.0.0.1:${postgres.port}`],
        ready: [join(postgres.bin, 'pg_isready'), ...asks],
      }),
    )
  }
  if (temporal.programs) {
    // Certificates decide who may connect; Temporal requires this flag if there is no authorizer beside them.
    const words = ['--config-file', at.temporalSettings, '--allow-no-auth', 'start']
    engines.push(
      server('temporal', 'Temporal', [temporal.programs.server, ...words], {
        listens: [temporal.address],
        after: ['postgres'],
      }),
    )
  }
  return engines
}

/** Database URLs: the external ones, or our own PostgreSQL with its password. */
export const urlsOfDatabases = (
  { databases: given, postgres }: SitePlan,
  password: string,
): { readonly cloud: string; readonly workflow: string } => {
  const url = (name: string) =>
    `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${postgres?.port}/${name}`
  return given ?? { cloud: url(databases.cloud), workflow: url(databases.workflow) }
}
