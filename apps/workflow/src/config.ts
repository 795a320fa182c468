import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const closed = { additionalProperties: false }
const Listener = Type.Object(
  { address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
  closed,
)

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

const compiled = Compile(Config)

export async function readConfig(file: string): Promise<Config> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `the configuration ${file} cannot be read`, {
      cause,
      hint: 'skerry cloud workflow writes one, on the machine that has the issuers',
    })
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Fault('invalid', `${file} must be JSON: ${(cause as Error).message}`, { cause })
  }
  if (compiled.Check(value)) return value
  const [first] = compiled.Errors(value)
  throw new Fault('invalid', `${file}: ${first?.instancePath || 'it'} ${first?.message}`)
}
