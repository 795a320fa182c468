// Goal: the DSL's published conformance scenarios hold for what we support. Method: the interpreter with the real jq and a stand-in
// for their hosts; each scenario as it is, and again with a new history before every task.
import { after, before, test } from 'node:test'

import { startEvaluator } from '../src/worker/evaluate.ts'
import { definitionOf, scenariosAt } from './scenarios.ts'
import { runSmall } from './small-world.ts'
import { startStandIn, type StandIn } from './stand-in.ts'

const evaluator = startEvaluator()
let host: StandIn
before(async () => {
  host = await startStandIn()
})
after(async () => {
  await host[Symbol.asyncDispose]()
  await evaluator[Symbol.asyncDispose]()
})

test('every published scenario of the subset holds', async (t) => {
  for (const { name, tasks, input = {}, expect } of scenariosAt(host.url)) {
    await t.test(name, async () => {
      const definition = definitionOf('scenario', tasks)
      const { ended, steps } = await runSmall(definition, input, { evaluator })
      expect(ended, steps)
      const again = await runSmall(definition, input, { evaluator, leaves: true })
      expect(again.ended, again.steps)
    })
  }
})
