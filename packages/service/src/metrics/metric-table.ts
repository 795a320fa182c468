/** Servers with a health listener; vmd serves `/metrics` at its own address. */
export const measuredServers = [
  'cell',
  'console',
  'workflow',
  'worker',
  'egress',
  'network',
] as const
export type MeasuredServer = (typeof measuredServers)[number]

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly of: readonly MeasuredServer[]
}

const all = measuredServers
const withDatabase = ['cell', 'console', 'workflow', 'worker', 'network'] as const
const answering = ['cell', 'console', 'workflow', 'egress'] as const
const running = ['workflow', 'worker'] as const

/** Every metric of these servers. docs/reference/metrics.md is generated from it. */
export const metricTable = {
  skerry_requests_total: {
    type: 'counter',
    labels: ['route', 'method', 'status'],
    of: answering,
    help: 'Requests answered, by the name of the route and the class of the status (2xx).',
  },
  skerry_request_seconds: {
    type: 'histogram',
    labels: ['route'],
    of: answering,
    help: 'Duration of responses, without event feeds and screens.',
  },
  skerry_condition_ok: {
    type: 'gauge',
    labels: ['condition'],
    of: all,
    help: '1 while a health condition of the server is ok, else 0; /readyz shows why.',
  },
  skerry_certificate_left_seconds: {
    type: 'gauge',
    labels: ['certificate'],
    of: withDatabase,
    help: 'Time until a certificate of this server expires.',
  },
  skerry_database_connections: {
    type: 'gauge',
    labels: ['pool', 'state'],
    of: withDatabase,
    help: 'Connections to PostgreSQL, busy and idle.',
  },
  skerry_database_waiting: {
    type: 'gauge',
    labels: ['pool'],
    of: withDatabase,
    help: 'Requests that wait for a connection to PostgreSQL.',
  },
  skerry_temporal_up: {
    type: 'gauge',
    labels: [],
    of: ['cell', 'workflow', 'worker'],
    help: '1 while Temporal answers, else 0.',
  },
  skerry_tasks: {
    type: 'gauge',
    labels: ['state'],
    of: ['cell'],
    help: 'Open tasks of the whole cloud. The task of a vApp is counted in addition to its child tasks.',
  },
  skerry_task_oldest_seconds: {
    type: 'gauge',
    labels: ['state'],
    of: ['cell'],
    help: 'How long the oldest task of the whole cloud has been in this state; 0 if there is none.',
  },
  skerry_queue_delay_seconds: {
    type: 'histogram',
    labels: [],
    of: ['cell'],
    help: 'Time from submission to start of tasks that this cell started.',
  },
  skerry_hosts: {
    type: 'gauge',
    labels: ['state'],
    of: ['cell'],
    help: 'Hosts of the cloud: open (accepting work), away (unreachable), or quarantined.',
  },
  skerry_org_usage: {
    type: 'gauge',
    labels: ['org', 'meter'],
    of: ['cell'],
    help: 'What an organisation, by its id, had on average in the last hour that is summed up: meter vm, vcpu, memory in GiB, storage in GiB, and others.',
  },
  skerry_usage_summed_up_seconds: {
    type: 'gauge',
    labels: [],
    of: ['cell'],
    help: 'Time since the end of the last hour whose usage is summed up.',
  },
  skerry_webhooks: {
    type: 'gauge',
    labels: ['state'],
    of: ['cell'],
    help: 'Webhooks of the cloud: working, failing (the receiver takes nothing), given-up (disabled because of that), or asked (disabled by an administrator).',
  },
  skerry_webhook_failing_seconds: {
    type: 'gauge',
    labels: ['org'],
    of: ['cell'],
    help: 'For how long the receiver of a webhook has taken nothing, the longest of an organisation by its id; only failing ones.',
  },
  skerry_webhook_messages_total: {
    type: 'counter',
    labels: ['result'],
    of: ['cell'],
    help: 'Messages of webhooks that this cell sent: taken, refused (or not answered), unsent (the egress is away).',
  },
  skerry_host_unheard_seconds: {
    type: 'gauge',
    labels: ['host'],
    of: ['cell'],
    help: 'Time since the cell that follows a host last heard from it.',
  },
  skerry_event_streams: {
    type: 'gauge',
    labels: [],
    of: ['cell'],
    help: 'Open event feeds at this cell.',
  },
  skerry_logins_refused_total: {
    type: 'counter',
    labels: ['reason'],
    of: ['cell', 'workflow'],
    help: 'Rejected logins: wrong credentials, or too many attempts.',
  },
  skerry_screens_open: {
    type: 'gauge',
    labels: [],
    of: ['console'],
    help: 'Screens that this console shows.',
  },
  skerry_runs: {
    type: 'gauge',
    labels: ['state'],
    of: running,
    help: 'Open workflow runs of all servers that share this database.',
  },
  skerry_run_oldest_seconds: {
    type: 'gauge',
    labels: ['state'],
    of: running,
    help: 'Time since the start of the oldest run in this state; 0 if there is none.',
  },
  skerry_network_zone_open: {
    type: 'gauge',
    labels: [],
    of: ['network'],
    help: '1 while this network server holds its zone and hosts can connect, else 0.',
  },
  skerry_network_changes: {
    type: 'gauge',
    labels: [],
    of: ['network'],
    help: 'Networks, edge gateways and edge groups of the zone that have changed and are not projected yet.',
  },
  skerry_network_change_oldest_seconds: {
    type: 'gauge',
    labels: [],
    of: ['network'],
    help: 'How long the oldest of these has been waiting; 0 if there is none.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    of: all,
    help: 'Resident memory of the process.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    of: all,
    help: 'Start time of the process, in seconds since 1970.',
  },
  process_open_fds: { type: 'gauge', labels: [], of: all, help: 'Open file descriptors.' },
} as const satisfies Readonly<Record<string, MetricRow>>

type Table = typeof metricTable
/** The names of one type. */
export type MetricName<Type extends MetricRow['type']> = {
  [Name in keyof Table]: Table[Name]['type'] extends Type ? Name : never
}[keyof Table]

/** docs/reference/metrics.md. */
export function metricReference(): string {
  const rows = Object.entries<MetricRow>(metricTable).map(([name, { type, labels, of, help }]) => {
    const named = labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${named} | ${of.join(', ')} | ${help} |`
  })
  return [
    '# Metrics',
    '',
    'The metrics that the servers serve at `/metrics`, in the Prometheus format. Generated from `packages/service/src/metrics/metric-table.ts` by `npm run reference`.',
    'How to read them, and the alerts that come with Skerry: [monitoring](../guides/monitoring.md).',
    '',
    '| Name | Type | Labels | Servers | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
