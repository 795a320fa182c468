// The worker of workflow.ts, in its own process: node workflow-worker.ts ADDRESS NAMESPACE QUEUE. Prints "ready", then a line for
// each run that has reached its last step: its grant, and the number of activities so far. Progress reports are dropped, so that
// no database adds the same time to both sides.
import { startEvaluator } from '@skerry/jq'
import type { DefinitionDocument } from '@skerry/serverless-workflow'
import { runWorker } from '@skerry/temporal'
import { parse } from 'yaml'

import { makeActivities } from '../../apps/workflow/src/runs/activities.ts'
import { makeSmallServer } from '../../apps/workflow/test/small-server.ts'
import { testConverter as dataConverter } from '../../apps/workflow/test/test-key.ts'
import { definitions } from './workflow-definitions.ts'

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2)
const evaluator = startEvaluator()
const input = { name: 'tide', n: 0 }
const documents = new Map(
  Object.entries(definitions).map(([name, text]) => [name, parse(text) as DefinitionDocument]),
)
const activities = makeActivities({
  ...makeSmallServer({ evaluator }),
  async loadRun({ definition }) {
    const document = documents.get(definition)
    if (document === undefined) throw new Error(`no definition ${definition}`)
    return { document, input }
  },
  record: async () => undefined,
  endGrant: async (grant) => void process.stdout.write(`${grant} ${count}\n`),
  callFunction: async ({ key, input: given }) => ({ key, input: given }),
})
let count = 0
const counted = Object.entries(activities).map(([name, activity]) => [
  name,
  async (...given: unknown[]) => {
    count += 1
    return (activity as (...all: unknown[]) => Promise<unknown>)(...given)
  },
])
const worker = runWorker({
  address,
  namespace,
  taskQueue,
  dataConverter,
  workflows: { path: `${import.meta.dirname}/both-runs.ts` },
  activities: Object.fromEntries(counted) as object,
  say: (what, cause) => console.error(what, cause),
})
await worker.ready
process.stdout.write('ready\n')
process.stdin
  .on('end', () => {
    void worker.stop().then(() => process.exit())
  })
  .resume()
