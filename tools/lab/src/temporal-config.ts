// The settings of a Temporal server that persists in a PostgreSQL of the lab.

/** So many ports in a row belong to one server: four services with a port for calls and one for membership each. */
export const TEMPORAL_PORTS = 8
export const DATABASES = { temporal: 'temporal', visibility: 'temporal_visibility' } as const

const services = ['frontend', 'history', 'matching', 'worker'] as const

/** JSON is YAML too, so nothing has to be glued together. */
export function temporalConfig(firstPort: number, postgresPort: number, dir: string): string {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `127.0.0.1:${postgresPort}`,
      connectProtocol: 'tcp',
      user: 'postgres',
      password: 'any',
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  })
  const service = (index: number) => ({
    rpc: {
      grpcPort: firstPort + index,
      membershipPort: firstPort + services.length + index,
      bindOnLocalHost: true,
    },
  })
  return JSON.stringify({
    // Level info writes a line for each call, which costs as much as the call.
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      // Fixed for ever at the first start; 4 is right for a test.
      numHistoryShards: 4,
      datastores: {
        main: store(DATABASES.temporal, 20),
        visibility: store(DATABASES.visibility, 4),
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
          rpcAddress: `127.0.0.1:${firstPort}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: `${dir}/dynamic.yaml`, pollInterval: '10s' },
  })
}

/** How soon a namespace that was just registered can be used. */
export const dynamicConfig = JSON.stringify({
  'system.namespaceCacheRefreshInterval': [{ value: '1s' }],
})
