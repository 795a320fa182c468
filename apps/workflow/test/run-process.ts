// A worker in a separate process, to be killed: node run-process.ts ADDRESS NAMESPACE QUEUE BUNDLE EFFECTS. Each call is recorded in
// the file EFFECTS by its key.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { startEvaluator } from '@skerry/jq'
import { runWorker } from '@skerry/temporal'

import { makeActivities } from '../src/runs/activities.ts'
import { makeSmallServer } from './small-server.ts'
import { testConverter as dataConverter } from './test-key.ts'

const [address = '', namespace = '', taskQueue = '', bundle = '', file = ''] = process.argv.slice(2)
const server = makeSmallServer({
  evaluator: startEvaluator(),
  file,
  pause: async (signal) => sleep(300, undefined, { signal }),
})
const worker = runWorker({
  address,
  namespace,
  taskQueue,
  dataConverter,
  workflows: { bundle: readFileSync(bundle, 'utf8') },
  activities: makeActivities(server),
  say: () => undefined,
})
await worker.ready
process.stdout.write('ready\n')
