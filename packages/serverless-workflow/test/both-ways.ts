// Runs one case twice: normally, and with a new history before every task. Both must have the same result and the same effects.
import assert from 'node:assert/strict'

import type { Evaluator } from '@skerry/jq'

import type { RunEnd } from '../src/interpreter/interpret.ts'
import type { Json } from '../src/interpreter/verbs.ts'
import { definitionOf } from './scenarios.ts'
import { runSmall, type SmallEnd, type SmallOptions } from './small-runtime.ts'

export function waysWith(evaluator: Evaluator) {
  const once = async (tasks: string, input: Json = {}, options: Partial<SmallOptions> = {}) =>
    runSmall(definitionOf('case', tasks), input, { evaluator, ...options })
  /** Returns the normal run. */
  const both = async (
    tasks: string,
    input: Json = {},
    options: () => Partial<SmallOptions> = () => ({}),
  ): Promise<SmallEnd> => {
    const plain = await once(tasks, input, options())
    const left = await once(tasks, input, { ...options(), leaves: true })
    assert.deepEqual(left.ended, plain.ended, 'the result differs with many histories')
    assert.deepEqual(effects(left), effects(plain), 'the effects differ with many histories')
    return plain
  }
  return { once, both }
}

const effects = ({ calls }: SmallEnd) => calls.map(({ key, name, input }) => [key, name, input])

export const outputOf = ({ ended }: SmallEnd): Json =>
  ended.ended === 'completed' ? ended.output : assert.fail(JSON.stringify(ended))
export const errorOf = ({ ended }: { ended: RunEnd }) =>
  ended.ended === 'failed' ? ended.error : assert.fail(JSON.stringify(ended))
