import { type Static, Type } from '@skerry/schema'
import { configShape, HealthListener, Listener } from '@skerry/service'

import { checkedBlock } from './projection/addresses.ts'

/** The configuration of one network server. */
export const NetworkServerConfig = Type.Object(
  {
    /** Its own name: the holder of the zone. No two servers have the same. */
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    /** Default: "default". */
    zone: Type.Optional(Type.String({ minLength: 1 })),
    /** The listener for hosts; its port is usually 6642. */
    listen: Listener,
    /** The address that hosts connect to, if it differs from `listen`. */
    remote: Type.Optional(Type.String({ pattern: '^ssl:.+:[0-9]+$' })),
    /** A dedicated login that reads what is projected and may execute six functions. */
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    /** The directory of OVN's databases. They can be deleted while the server is stopped. */
    data: Type.String({ minLength: 1 }),
    /** PEM files: the key and certificate of this server, and the issuer of hosts' certificates. Replaced files are read again. */
    tls: Type.Object(
      {
        key: Type.String({ minLength: 1 }),
        certificate: Type.String({ minLength: 1 }),
        ca: Type.String({ minLength: 1 }),
      },
      { additionalProperties: false },
    ),
    /** Networks of the operator that guests must not reach through an edge gateway, such as 192.0.2.0/24. Default: none. */
    protected: Type.Optional(Type.Array(Type.String())),
    /** The listener of /healthz, /readyz and /metrics. Default: 127.0.0.1:9646. */
    health: Type.Optional(HealthListener),
  },
  { additionalProperties: false },
)
export type NetworkServerConfig = Static<typeof NetworkServerConfig>

export async function readConfig(file: string): Promise<NetworkServerConfig> {
  const config = await configShape(NetworkServerConfig).read(
    file,
    'create one with skerry admin network-server create, on the machine that has the issuers',
  )
  // With an invalid one no edge gateway could be projected.
  for (const each of config.protected ?? []) checkedBlock(each, `${file}: a network in "protected"`)
  return config
}

/** Where hosts find the server. */
export function remoteOf({
  remote,
  listen,
}: Pick<NetworkServerConfig, 'remote' | 'listen'>): string {
  const { address, port } = listen
  return remote ?? `ssl:${address.includes(':') ? `[${address}]` : address}:${port}`
}
