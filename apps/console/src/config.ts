import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const closed = { additionalProperties: false }
const Listener = Type.Object(
  { address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
  closed,
)

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
  closed,
)
export type Config = Static<typeof Config>

const compiled = Compile(Config)

export async function readConfig(file: string): Promise<Config> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `the configuration ${file} cannot be read`, {
      cause,
      hint: 'skerry cloud console writes one, on the machine that has the issuers',
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

/** What a browser says in `Origin` on a page of this console. */
export const originOf = ({ page }: Pick<Config, 'page'>): string => new URL(page).origin
