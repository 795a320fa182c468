// Computes the remaining steps from what was found. Pure: no inspection and no action here.
import type { ServerName } from './site.ts'

/** Parts of a site that are created once; each is marked when complete, and may be created again until then. */
export const makings = [
  'users',
  'programs',
  'cluster',
  'databases',
  'tables',
  'cloud',
  'certificates',
  'console',
  'workflow',
  'network',
  'membership',
  'organisation',
  'image',
  'template',
] as const
export type Making = (typeof makings)[number]

export type SiteStep =
  | { readonly do: 'make'; readonly what: Making }
  | { readonly do: 'start' | 'stop'; readonly server: ServerName }
  /** Waits until the cloud can place VMs on this machine. */
  | { readonly do: 'open' }

export interface SiteState {
  /** The servers of the site. */
  readonly servers: readonly ServerName[]
  readonly running: ReadonlySet<ServerName>
  readonly made: ReadonlySet<Making>
  /** A vmd that does not belong to this site is running. */
  readonly otherVmd: boolean
}

/** Temporal and its clients. */
const callers: readonly ServerName[] = ['worker', 'workflow', 'cell', 'temporal']

export function decide({ servers, running, made, otherVmd }: SiteState): readonly SiteStep[] {
  const has = (name: ServerName) => servers.includes(name)
  const make = (what: Making): SiteStep[] => (made.has(what) ? [] : [{ do: 'make', what }])
  // A site of an older version, where Temporal and its clients used no TLS.
  const movesToTls = has('temporal') && running.has('temporal') && !made.has('certificates')
  const stopped = movesToTls ? callers.filter((server) => running.has(server)) : []
  const start = (server: ServerName): SiteStep[] =>
    has(server) && (!running.has(server) || stopped.includes(server))
      ? [{ do: 'start', server }]
      : []
  const joins = !made.has('membership')
  const restarts = joins && running.has('vmd')
  return [
    ...make('users'),
    ...(has('temporal') ? make('programs') : []),
    ...(has('postgres') ? [...make('cluster'), ...start('postgres'), ...make('databases')] : []),
    ...(has('temporal') ? make('tables') : []),
    ...make('cloud'),
    ...stopped.map((server): SiteStep => ({ do: 'stop', server })),
    // The cloud's CA signs them.
    ...(has('temporal') ? [...make('certificates'), ...start('temporal')] : []),
    ...start('cell'),
    ...make('console'),
    ...start('console'),
    ...make('workflow'),
    ...start('egress'),
    ...start('workflow'),
    ...start('worker'),
    ...(has('network') ? [...make('network'), ...start('network')] : []),
    // vmd opens the host API when it starts.
    ...(restarts ? [{ do: 'stop', server: 'vmd' } as const] : []),
    ...make('membership'),
    ...(restarts ? [{ do: 'start', server: 'vmd' } as const] : otherVmd ? [] : start('vmd')),
    { do: 'open' },
    ...make('organisation'),
    ...make('image'),
    ...make('template'),
  ]
}

const sayings: Readonly<Record<Making, string>> = {
  users: 'creating the users of the servers',
  programs: 'building Temporal (once; takes several minutes)',
  cluster: 'creating the PostgreSQL cluster',
  databases: 'creating the databases',
  tables: 'creating the tables of Temporal',
  cloud: 'creating the cloud',
  certificates: 'creating the certificates of Temporal',
  console: 'creating the console server',
  workflow: 'creating the workflow server',
  network: 'creating the network server',
  membership: 'joining this machine as a host',
  organisation: 'creating an organisation and its owner',
  image: 'building Debian 12',
  template: 'creating the template',
}

/** Progress label of a step. */
export function sayStep(step: SiteStep, titles: ReadonlyMap<ServerName, string>): string {
  if (step.do === 'make') return sayings[step.what]
  if (step.do === 'open') return 'waiting until VMs can be placed here'
  return `${step.do === 'start' ? 'starting' : 'stopping'} ${titles.get(step.server)}`
}
