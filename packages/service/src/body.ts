import { Fault } from '@skerry/fault'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import type { Body } from './route.ts'

/** One of these words as the whole body, whatever the Content-Type says. */
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
      const value: unknown = parse(raw)
      if (compiled.Check(value)) return value
      const [first] = compiled.Errors(value)
      throw new Fault('invalid', `${first?.instancePath || 'the body'} ${why(first?.message)}`)
    },
  }
}

/** Keys that a row does not take are checked against a schema that nothing meets. */
const why = (message = 'is wrong'): string =>
  message === 'schema is false' ? 'must not be given here' : message

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch (cause) {
    throw new Fault('invalid', 'the body must be JSON', { cause })
  }
}
