import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** An address that a server listens at or is asked at, as its configuration has it. */
export const Listener = Type.Object(
  { address: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
  { additionalProperties: false },
)

export interface ConfigShape<Config> {
  /** `hint`: who writes such a file. */
  read(file: string, hint: string): Promise<Config>
  /** `from` is what a fault calls it by. */
  check(value: unknown, from: string): Config
}

/** What an administrator writes down for a server: JSON of this shape, and nothing beside it. */
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
        throw new Fault('invalid', `the configuration ${file} cannot be read`, { cause, hint })
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
