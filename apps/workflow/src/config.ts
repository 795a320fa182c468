import { configShape, Listener } from '@skerry/service'
import { Type, type Static } from 'typebox'

const closed = { additionalProperties: false }

/** What `skerry cloud workflow` writes down for one workflow server. */
export const Config = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    listen: Listener,
    /** The public address: it stands in every link, whichever server answers. */
    url: Type.String({ pattern: '^https://[^/?#@]+/?$' }),
    /** A database of its own, by a login that owns it. */
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    temporal: Type.Object({ address: Type.String(), namespace: Type.String() }, closed),
    /** Certificates and keys, as `skerry cloud workflow` made them. */
    identity: Type.String(),
    /** Machines' doors of cells: who somebody is, and what runs may do. */
    cells: Type.Array(Listener, { minItems: 1 }),
    /** Cells that may issue: its certificate is renewed by them. */
    renewFrom: Type.Array(Listener),
    /** The socket of the one way out to other people's servers; without it, nothing calls them. */
    egress: Type.Optional(Type.String({ minLength: 1 })),
    /** How many runs of one organisation may go on at once; 1000 unless told. */
    runsPerOrg: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** How long requests under way may take after it was told to stop; 10 unless told. */
    drainSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  closed,
)
export type Config = Static<typeof Config>

const shape = configShape(Config)

export const readConfig = (file: string): Promise<Config> =>
  shape.read(file, 'skerry cloud workflow writes one, on the machine that has the issuers')
