import { configShape, Listener } from '@skerry/service'
import { Type, type Static } from 'typebox'

const closed = { additionalProperties: false }

/** What an administrator writes down for a cell; all else has one value. */
export const Config = Type.Object(
  {
    /** The public address: it stands in every link, whichever cell answers. */
    base: Type.String({ pattern: '^https://' }),
    cell: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    listen: Listener,
    /** For clients of the API that this one restates: the same, in their dialect, at an address of its own. */
    original: Type.Optional(
      Type.Object({ base: Type.String({ pattern: '^https://' }), listen: Listener }, closed),
    ),
    /** Where hosts and consoles come in, by certificate. */
    machines: Listener,
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    temporal: Type.Object({ address: Type.String(), namespace: Type.String() }, closed),
    /** Certificates and keys that `skerry cloud init` made. */
    identity: Type.String(),
    /** Cells that may issue, for one that may not: its certificate is renewed by them. */
    renewFrom: Type.Optional(Type.Array(Listener)),
    /** Where images lie. */
    images: Type.String(),
    /** Where consoles answer, as host or host:port; `console.` before the host of the base unless told. */
    console: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.-]+(:[0-9]{1,5})?$' })),
    claims: Type.Optional(
      Type.Object(
        { perHost: Type.Integer({ minimum: 1 }), perOrg: Type.Integer({ minimum: 1 }) },
        closed,
      ),
    ),
  },
  closed,
)
export type Config = Static<typeof Config>

const shape = configShape(Config)

/** Where clients reach the cloud, in one dialect or another. */
export const basesOf = ({ base, original }: Pick<Config, 'base' | 'original'>): readonly string[] =>
  original ? [base, original.base] : [base]

export const readConfig = (file: string): Promise<Config> =>
  shape.read(file, 'skerry cloud init writes one')

/** `from` is what a fault calls it by. */
export const checkConfig = (value: unknown, from: string): Config => shape.check(value, from)
