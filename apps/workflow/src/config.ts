import { type Static, Type } from '@skerry/schema'
import { configShape, HealthListener, Listener, TemporalServer } from '@skerry/service'

const closed = { additionalProperties: false }

/** The configuration of one workflow server, as `skerry admin workflow-server create` writes it. */
export const WorkflowConfig = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    listen: Listener,
    /** The public URL, used in every link, whichever server responds. */
    url: Type.String({ pattern: '^https://[^/?#@]+/?$' }),
    /** A database of its own; the login owns it. */
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    temporal: TemporalServer,
    /** The directory of certificates and keys that `skerry admin workflow-server create` made. */
    identity: Type.String(),
    /** Machine listeners of cells. They authenticate users and authorize runs. */
    cells: Type.Array(Listener, { minItems: 1 }),
    /** The listener for cells, which pass on requests of the web UI. Default: none, and the web UI has no workflows. */
    machines: Type.Optional(Listener),
    /** Cells that can issue certificates; they renew this server's certificate. */
    renewFrom: Type.Array(Listener),
    /** The socket of the egress, the only way to call external servers. Without it, no workflow can call them. */
    egress: Type.Optional(Type.String({ minLength: 1 })),
    /** The organisation of user names without @organisation. Default: such a name is rejected. */
    organisation: Type.Optional(Type.String({ minLength: 1 })),
    /** The maximum number of concurrent runs of one organisation. Default: 1000. */
    runsPerOrg: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Addresses shared by many clients, such as a load balancer's: limits per client address do not apply to them. */
    sharedAddresses: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** The listener for /healthz, /readyz and /metrics. Default: 127.0.0.1:9643. */
    health: Type.Optional(HealthListener),
    /** The same for a process that only runs workflows (`--only worker`). Default: 127.0.0.1:9644. */
    workerHealth: Type.Optional(HealthListener),
    /** How many days a run and its logs are kept after it ends. Default: 90. */
    runDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
    /** How many seconds open requests may take to finish after a stop signal. Default: 10. */
    drainSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  closed,
)
export type WorkflowConfig = Static<typeof WorkflowConfig>

const shape = configShape(WorkflowConfig)

export const readConfig = (file: string): Promise<WorkflowConfig> =>
  shape.read(
    file,
    'run skerry admin workflow-server create on the machine that has the issuer keys; it writes this file',
  )
