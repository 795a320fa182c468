// Goal: the DSL's published conformance scenarios pass for the supported subset. Method: the interpreter with the real jq and a test
// server for their hosts; each scenario normally, and again with a new history before every task.
import { after, before, test } from 'node:test'

import { startEvaluator } from '@skerry/jq'

import { definitionOf, scenariosAt } from './scenarios.ts'
import { runSmall } from './small-runtime.ts'
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

test('every published scenario of the subset passes', async (t) => {
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
