// The settings of a Temporal server that is all ours, on loopback, and keeps its things in a PostgreSQL.

/** So many ports in a row belong to one server: four services with a port for calls and one for membership each. */
export const temporalPorts = 8
export const temporalDatabases = {
  temporal: 'temporal',
  visibility: 'temporal_visibility',
} as const

const services = ['frontend', 'history', 'matching', 'worker'] as const

export interface TemporalPlace {
  /** The first of its ports: it takes calls there. */
  readonly port: number
  readonly postgres: { readonly port: number; readonly password: string }
  /** The file of temporalDynamicSettings. */
  readonly dynamic: string
  /** How many parts its work is divided into: fixed for ever at the first start. */
  readonly shards: number
}

/** JSON is YAML too, so nothing has to be glued together. */
export function temporalSettings({ port, postgres, dynamic, shards }: TemporalPlace): string {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `127.0.0.1:${postgres.port}`,
      connectProtocol: 'tcp',
      user: 'postgres',
      password: postgres.password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  })
  const service = (index: number) => ({
    rpc: {
      grpcPort: port + index,
      membershipPort: port + services.length + index,
      bindOnLocalHost: true,
    },
  })
  return JSON.stringify({
    // Level info writes a line for each call, which costs as much as the call.
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: shards,
      datastores: {
        main: store(temporalDatabases.temporal, 20),
        visibility: store(temporalDatabases.visibility, 4),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(services.map((name, index) => [name, service(index)])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${port}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamic, pollInterval: '10s' },
  })
}

/** How soon a namespace that was just registered can be used. */
export const temporalDynamicSettings = JSON.stringify({
  'system.namespaceCacheRefreshInterval': [{ value: '1s' }],
})
