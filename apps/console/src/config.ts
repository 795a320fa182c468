import { configShape, Listener } from '@skerry/service'
import { Type, type Static } from 'typebox'

/** What `skerry cloud console` writes down for one console process. */
export const Config = Type.Object(
  {
    /** Its own name: audit events say by it which process showed a screen. */
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    /** The public address, without a path: its pages are the only ones that may open a screen in a browser. */
    page: Type.String({ pattern: '^https://[^/?#@]+/?$' }),
    listen: Listener,
    /** A login of its own that may execute three functions and read nothing. */
    database: Type.String({ pattern: '^postgres(ql)?://' }),
    /** Certificates and keys, as `skerry cloud console` made them. */
    identity: Type.String(),
    /** Cells that may issue: its certificate is renewed by them. */
    renewFrom: Type.Array(Listener),
    /** How long open screens go on after it was told to stop; 30 unless told. */
    drainSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  { additionalProperties: false },
)
export type Config = Static<typeof Config>

const shape = configShape(Config)

export const readConfig = (file: string): Promise<Config> =>
  shape.read(file, 'skerry cloud console writes one, on the machine that has the issuers')

/** What a browser says in `Origin` on a page of this console. */
export const originOf = ({ page }: Pick<Config, 'page'>): string => new URL(page).origin
