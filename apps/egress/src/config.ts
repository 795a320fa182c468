import { readFileSync } from 'node:fs'

import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

const Rule = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 253 }),
    ports: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }))),
    schemes: Type.Optional(Type.Array(Type.Union([Type.Literal('http'), Type.Literal('https')]))),
    addresses: Type.Optional(Type.Array(Type.String({ maxLength: 45 }))),
  },
  { additionalProperties: false },
)
const Config = Type.Object(
  {
    /** The path of the socket that workers speak to. */
    listen: Type.String({ minLength: 1 }),
    /** By the organisation's id: whom its workflows may call. */
    orgs: Type.Record(Type.String(), Type.Array(Rule)),
  },
  { additionalProperties: false },
)
export type Config = Static<typeof Config>
const config = Compile(Config)

export function readConfig(path: string): Config {
  const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (config.Check(found)) return found
  const [first] = config.Errors(found)
  throw new Fault('invalid', `${path}: ${first?.instancePath || 'it'} ${first?.message}`)
}
