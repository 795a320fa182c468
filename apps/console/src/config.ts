import { type Static, Type } from '@skerry/schema'
import { configShape, HealthListener, Listener } from '@skerry/service'

const PAGE = '^https://[^/?#@*]+/?$'

/** The configuration that `skerry admin console-server create` writes for one console process. */
export const ConsoleConfig = Type.Object(
  {
    /** Its own name: audit events name the process that showed a screen. */
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    /** The public URL, without a path. Its own page may open screens. */
    page: Type.String({ pattern: PAGE }),
    /** Other origins whose pages may open screens, such as the cloud's base for the web UI. Default: none. */
    pages: Type.Optional(Type.Array(Type.String({ pattern: PAGE }))),
    listen: Listener,
    /** A dedicated login that may execute three functions and read nothing. */
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    /** The directory of certificates and keys, as created by `skerry admin console-server create`. */
    identity: Type.String(),
    /** Cells with an issuer, which renew its certificate. */
    renewFrom: Type.Array(Listener),
    /** Addresses shared by many clients, such as a balancer's that hides theirs: limits per address do not apply to these. */
    sharedAddresses: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** The listener of /healthz, /readyz and /metrics. Default: 127.0.0.1:9642. */
    health: Type.Optional(HealthListener),
    /** How long open screens may continue after a stop was requested. Default: 30. */
    drainSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  { additionalProperties: false },
)
export type ConsoleConfig = Static<typeof ConsoleConfig>

const shape = configShape(ConsoleConfig)

export const readConfig = (file: string): Promise<ConsoleConfig> =>
  shape.read(
    file,
    'create one with skerry admin console-server create, on the machine that has the issuers',
  )

/** Every `Origin` that a browser may send: that of the console's own page, then those of others. */
export const originsOf = ({
  page,
  pages = [],
}: Pick<ConsoleConfig, 'page' | 'pages'>): readonly [string, ...string[]] => {
  const others = pages.map((each) => new URL(each).origin)
  return [new URL(page).origin, ...others]
}
