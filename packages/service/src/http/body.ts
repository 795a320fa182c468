import { Fault } from '@skerry/fault'
import { Compile, type Static, type TSchema } from '@skerry/schema'

import type { Body } from './route.ts'

/** A body that is exactly one of these words, with any Content-Type. */
export function word<const Word extends string>(words: readonly Word[]): Body<Word> {
  return {
    media: 'text/plain',
    shape: { enum: words },
    read(raw) {
      const found = words.find((one) => one === raw.trim())
      if (found === undefined)
        throw new Fault('invalid', `the body must be one of ${words.join(', ')}`)
      return found
    },
  }
}

export function json<Schema extends TSchema>(schema: Schema): Body<Static<Schema>> {
  const compiled = Compile(schema)
  return {
    media: 'application/json',
    shape: schema,
    read(raw) {
      const value: unknown = parseJson(raw)
      if (compiled.Check(value)) return value
      const [first] = compiled.Errors(value)
      throw new Fault('invalid', `${first?.instancePath || 'the body'} ${why(first?.message)}`)
    },
  }
}

/** Keys that a route does not accept are checked against the schema `false`. */
const why = (message = 'is invalid'): string =>
  message === 'schema is false' ? 'must not be given here' : message

export function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be JSON', { cause })
  }
}
