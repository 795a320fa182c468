// Settings of a Temporal server of our own, on loopback, with PostgreSQL as its store.

/** Number of consecutive ports of one server: four services, each with a gRPC port and a membership port. */
export const temporalPorts = 8
export const temporalDatabases = {
  temporal: 'temporal',
  visibility: 'temporal_visibility',
} as const

const services = ['frontend', 'history', 'matching', 'worker'] as const

export interface TemporalPlace {
  /** The first of its ports: the frontend. */
  readonly port: number
  readonly postgres: { readonly port: number; readonly password: string }
  /** The file of temporalDynamicSettings. */
  readonly dynamic: string
  /** Number of history shards; cannot be changed after the first start. */
  readonly shards: number
  /** Directory of the certificates issued by `skerry admin temporal-server create`. Without it there is no TLS: only for tests of single parts. */
  readonly certificates?: string
}

/** Files in the directory that `skerry admin temporal-server create` writes. */
export const temporalCertificates = {
  certificate: 'temporal.pem',
  key: 'temporal.key',
  /** The CA of the permitted clients. */
  clients: 'clients.pem',
} as const
/** The name in the server's certificate, independent of its address. */
const SERVER_NAME = 'temporal.skerry'

/** Written as JSON, which is valid YAML, so that no text has to be concatenated. */
export function temporalSettings(place: TemporalPlace): string {
  const { port, postgres, dynamic, shards, certificates } = place
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
    // Metrics and pprof have no port, because none is configured here.
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      ...(certificates !== undefined && { tls: tlsSettings(certificates) }),
    },
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

/** Clients need a certificate of the cloud's CA. Between Temporal's own services only its own certificate is accepted. */
function tlsSettings(directory: string) {
  const at = (file: string) => `${directory}/${file}`
  const { certificate, key, clients } = temporalCertificates
  const own = { certFile: at(certificate), keyFile: at(key) }
  const client = { serverName: SERVER_NAME, rootCaFiles: [at(clients)] }
  const takes = (file: string) => ({ ...own, requireClientAuth: true, clientCaFiles: [at(file)] })
  return {
    frontend: { server: takes(clients), client },
    internode: { server: takes(certificate), client },
    systemWorker: { ...own, client },
    // Renewed certificates are loaded without a restart.
    refreshInterval: '1m',
  }
}

/** How soon a new namespace can be used, and whether members of the cluster use TLS with each other. */
export const temporalDynamicSettings = (certificates: boolean): string =>
  JSON.stringify({
    'system.namespaceCacheRefreshInterval': [{ value: '1s' }],
    ...(certificates && { 'system.enableRingpopTLS': [{ value: true }] }),
  })
