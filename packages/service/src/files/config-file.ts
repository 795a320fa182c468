import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { Compile, type Static, type TSchema, Type } from '@skerry/schema'

const closed = { additionalProperties: false }

/** A listen or target address in the configuration of a server. */
export const Listener = Type.Object(
  { address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
  closed,
)

/** The address of Temporal and the TLS settings for it. */
export const TemporalServer = Type.Object(
  {
    address: Type.String(),
    namespace: Type.String(),
    /** Default: TLS with the certificate of this machine. `false`: no TLS, for a private network. */
    tls: Type.Optional(
      Type.Union([
        Type.Literal(false),
        Type.Object(
          {
            /** PEM files: the issuer of the server's certificate, and the client certificate and key of this machine. */
            ca: Type.String(),
            certificate: Type.String(),
            key: Type.String(),
            /** The name in the server's certificate. Default: the host of the address. */
            serverName: Type.Optional(Type.String({ minLength: 1 })),
          },
          closed,
        ),
      ]),
    ),
  },
  closed,
)
export type TemporalServer = Static<typeof TemporalServer>

export interface ConfigShape<Config> {
  /** `hint`: the command that creates such a file. */
  read(file: string, hint: string): Promise<Config>
  /** `from`: the name of the source in error messages. */
  check(value: unknown, from: string): Config
}

/** The configuration file of a server: JSON of this shape, without other keys. */
export function configShape<Shape extends TSchema>(shape: Shape): ConfigShape<Static<Shape>> {
  const compiled = Compile(shape)
  const check = (value: unknown, from: string): Static<Shape> => {
    if (compiled.Check(value)) return value
    const [first] = compiled.Errors(value)
    throw new Fault('invalid', `${from}: ${first?.instancePath || 'it'} ${first?.message}`)
  }
  return {
    check,
    async read(file, hint) {
      const text = await readFile(file, 'utf8').catch((cause: unknown) => {
        throw new Fault('invalid', `cannot read the configuration ${file}`, { cause, hint })
      })
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch (cause) {
        throw new Fault('invalid', `${file} must be JSON: ${(cause as Error).message}`, { cause })
      }
      return check(value, file)
    },
  }
}
