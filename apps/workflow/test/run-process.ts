// A worker as a process of its own, to be killed: node run-process.ts ADDRESS NAMESPACE QUEUE BUNDLE EFFECTS. Each call takes effect in
// the file EFFECTS, by its key.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { runWorker } from '@skerry/temporal'

import { makeActivities } from '../src/worker/activities.ts'
import { startEvaluator } from '../src/worker/evaluate.ts'
import { makeSmallServer } from './small-server.ts'
import { testConverter as dataConverter } from './test-key.ts'

const [address = '', namespace = '', taskQueue = '', bundle = '', file = ''] = process.argv.slice(2)
const server = makeSmallServer({
  ...{ evaluator: startEvaluator(), file },
  pause: async (signal) => sleep(300, undefined, { signal }),
})
const worker = runWorker({
  ...{ address, namespace, taskQueue, dataConverter },
  workflows: { bundle: readFileSync(bundle, 'utf8') },
  activities: makeActivities(server),
  say: () => undefined,
})
await worker.ready
process.stdout.write('ready\n')
