// One case both ways: as it is, and with a new history before every task. It must have the same end and the same effects.
import assert from 'node:assert/strict'

import type { Ended } from '../src/durable/interpret.ts'
import type { Json } from '../src/durable/verbs.ts'
import type { Evaluator } from '../src/worker/evaluate.ts'
import { definitionOf } from './scenarios.ts'
import { runSmall, type SmallEnd, type SmallOptions } from './small-world.ts'

export function waysWith(evaluator: Evaluator) {
  const once = async (tasks: string, input: Json = {}, options: Partial<SmallOptions> = {}) =>
    runSmall(definitionOf('case', tasks), input, { evaluator, ...options })
  /** Answers the plain one. */
  const both = async (
    tasks: string,
    input: Json = {},
    options: () => Partial<SmallOptions> = () => ({}),
  ): Promise<SmallEnd> => {
    const plain = await once(tasks, input, options())
    const left = await once(tasks, input, { ...options(), leaves: true })
    assert.deepEqual(left.ended, plain.ended, 'under many histories it ends otherwise')
    assert.deepEqual(effects(left), effects(plain), 'under many histories it has other effects')
    return plain
  }
  return { once, both }
}

const effects = ({ calls }: SmallEnd) => calls.map(({ key, name, input }) => [key, name, input])

export const outputOf = ({ ended }: SmallEnd): Json =>
  ended.ended === 'completed' ? ended.output : assert.fail(JSON.stringify(ended))
export const errorOf = ({ ended }: { ended: Ended }) =>
  ended.ended === 'failed' ? ended.error : assert.fail(JSON.stringify(ended))
