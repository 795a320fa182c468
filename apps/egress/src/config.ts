import { type Static, Type } from '@skerry/schema'
import { configShape, HealthListener } from '@skerry/service'

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
    /** The path of the socket that workers connect to. */
    listen: Type.String({ minLength: 1 }),
    /** The listener for /healthz, /readyz and /metrics. Default: 127.0.0.1:9645. */
    health: Type.Optional(HealthListener),
    /** The servers that each organisation's workflows may call, keyed by organisation id. */
    orgs: Type.Record(Type.String(), Type.Array(Rule)),
  },
  { additionalProperties: false },
)
export type EgressConfig = Static<typeof Config>

export const readConfig = (path: string): Promise<EgressConfig> =>
  configShape(Config).read(path, 'skerry admin workflow-server create creates it')
