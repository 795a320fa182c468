import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const closed = { additionalProperties: false }
const Listener = Type.Object(
  { address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
  closed,
)

/** What an administrator writes down for a cell; all else has one value. */
export const Config = Type.Object(
  {
    /** The public address: it stands in every link, whichever cell answers. */
    base: Type.String({ pattern: '^https://' }),
    cell: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
    listen: Listener,
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

const compiled = Compile(Config)

export async function readConfig(file: string): Promise<Config> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `the configuration ${file} cannot be read`, {
      cause,
      hint: 'skerry cloud init writes one',
    })
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Fault('invalid', `${file} must be JSON: ${(cause as Error).message}`, { cause })
  }
  return checkConfig(value, file)
}

/** `from` is what a fault calls it by. */
export function checkConfig(value: unknown, from: string): Config {
  if (compiled.Check(value)) return value
  const [first] = compiled.Errors(value)
  throw new Fault('invalid', `${from}: ${first?.instancePath || 'it'} ${first?.message}`)
}
