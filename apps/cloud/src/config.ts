import { type Static, Type } from '@skerry/schema'
import { configShape, HealthListener, Listener, TemporalServer } from '@skerry/service'

/** How many days each kind is kept after its end. */
export interface Retention {
  readonly taskDays: number
  readonly eventDays: number
  /** Rows of deleted VMs and vApps. */
  readonly deletedDays: number
}

export const defaultRetention: Retention = { taskDays: 90, eventDays: 90, deletedDays: 90 }

const closed = { additionalProperties: false }

/** The configuration file of a cell; everything else is fixed. */
export const CloudConfig = Type.Object(
  {
    /** The public address: the base of every link, whichever cell responds. */
    base: Type.String({ pattern: '^https://' }),
    cell: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    listen: Listener,
    /** For clients of the original API: the same routes in its dialect, at a separate address. */
    original: Type.Optional(
      Type.Object({ base: Type.String({ pattern: '^https://' }), listen: Listener }, closed),
    ),
    /** The machine API: hosts and consoles connect here with a certificate. */
    machines: Listener,
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    temporal: TemporalServer,
    /** Directory of the certificates and keys made by `skerry admin init`. */
    identity: Type.String(),
    /** Cells that may issue certificates; a cell that may not renews its own there. */
    renewFrom: Type.Optional(Type.Array(Listener)),
    /** Directory of the images. */
    images: Type.String(),
    /** Public address of the consoles, as host or host:port. Default: `console.` before the host of the base. */
    console: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.-]+(:[0-9]{1,5})?$' })),
    /** Listeners of workflow servers for cells: the web UI shows their workflows. All serve the same ones. Default: none. */
    workflow: Type.Optional(Type.Array(Listener, { minItems: 1 })),
    /** The socket of the egress on this machine, through which webhooks are sent. Default: none are sent. */
    egress: Type.Optional(Type.String({ minLength: 1 })),
    /** Addresses that many clients share, such as a load balancer's: limits per address do not apply to them. */
    sharedAddresses: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** Listener of /healthz, /readyz and /metrics. Default: 127.0.0.1:9641. */
    health: Type.Optional(HealthListener),
    /** Retention in days; must be the same for every cell. Default: 90 each. */
    retention: Type.Optional(
      Type.Object(
        {
          /** Tasks, from their start. Request keys refer to them for 30 days. */
          taskDays: Type.Optional(Type.Integer({ minimum: 31, maximum: 3650 })),
          /** Events; they are deleted in whole months. */
          eventDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
          /** Rows of deleted VMs and vApps. Hosts remember a deleted VM for 90 days. */
          deletedDays: Type.Optional(Type.Integer({ minimum: 90, maximum: 3650 })),
        },
        closed,
      ),
    ),
    claims: Type.Optional(
      Type.Object(
        { perHost: Type.Integer({ minimum: 1 }), perOrg: Type.Integer({ minimum: 1 }) },
        closed,
      ),
    ),
  },
  closed,
)
export type CloudConfig = Static<typeof CloudConfig>

const shape = configShape(CloudConfig)

/** The public addresses of the cloud, one for each dialect. */
export const basesOf = ({
  base,
  original,
}: Pick<CloudConfig, 'base' | 'original'>): readonly string[] =>
  original ? [base, original.base] : [base]

export const retentionOf = ({ retention }: Pick<CloudConfig, 'retention'>): Retention => ({
  ...defaultRetention,
  ...retention,
})

export const readConfig = (file: string): Promise<CloudConfig> =>
  shape.read(file, 'create one with skerry admin init')

/** `from` names the source of the value in faults. */
export const checkConfig = (value: unknown, from: string): CloudConfig => shape.check(value, from)
