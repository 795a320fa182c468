// What is still to do, decided from what was found; nothing here looks or acts.
import type { ServerName } from './site.ts'

/** Things that are made once; each is marked when it is whole, and may be made again until then. */
export const makings = [
  'programs',
  'cluster',
  'databases',
  'tables',
  'cloud',
  'console',
  'workflow',
  'membership',
  'organisation',
  'image',
  'template',
] as const
export type Making = (typeof makings)[number]

export type Step =
  | { readonly do: 'make'; readonly what: Making }
  | { readonly do: 'start' | 'stop'; readonly server: ServerName }
  /** Waits until the cloud would place VMs on this machine. */
  | { readonly do: 'open' }

export interface Found {
  /** Which servers belong to the site. */
  readonly servers: readonly ServerName[]
  readonly running: ReadonlySet<ServerName>
  readonly made: ReadonlySet<Making>
  /** A vmd that is not of this site runs here. */
  readonly otherVmd: boolean
}

export function decide({ servers, running, made, otherVmd }: Found): readonly Step[] {
  const has = (name: ServerName) => servers.includes(name)
  const make = (what: Making): Step[] => (made.has(what) ? [] : [{ do: 'make', what }])
  const start = (server: ServerName): Step[] =>
    has(server) && !running.has(server) ? [{ do: 'start', server }] : []
  const joins = !made.has('membership')
  const restarts = joins && running.has('vmd')
  return [
    ...(has('temporal') ? make('programs') : []),
    ...(has('postgres') ? [...make('cluster'), ...start('postgres'), ...make('databases')] : []),
    ...(has('temporal') ? [...make('tables'), ...start('temporal')] : []),
    ...[...make('cloud'), ...start('cell')],
    ...[...make('console'), ...start('console')],
    ...[...make('workflow'), ...start('egress'), ...start('workflow'), ...start('worker')],
    // It opens the cloud's door when it starts.
    ...(restarts ? [{ do: 'stop', server: 'vmd' } as const] : []),
    ...make('membership'),
    ...(restarts ? [{ do: 'start', server: 'vmd' } as const] : otherVmd ? [] : start('vmd')),
    { do: 'open' },
    ...[...make('organisation'), ...make('image'), ...make('template')],
  ]
}

const sayings: Readonly<Record<Making, string>> = {
  programs: 'building Temporal, once, in several minutes',
  cluster: 'making a place for PostgreSQL',
  databases: 'making the databases',
  tables: 'making the tables of Temporal',
  cloud: 'making the cloud',
  console: 'making its console',
  workflow: 'making its workflow server',
  membership: 'making this machine its host',
  organisation: 'making an organisation and its owner',
  image: 'building Debian 12',
  template: 'making a template of it',
}

/** What a person reads while it is done. */
export function sayStep(step: Step, titles: ReadonlyMap<ServerName, string>): string {
  if (step.do === 'make') return sayings[step.what]
  if (step.do === 'open') return 'waiting until VMs may be placed here'
  return `${step.do === 'start' ? 'starting' : 'stopping'} ${titles.get(step.server)}`
}
