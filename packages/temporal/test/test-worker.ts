// A worker in its own process, to be killed: node test-worker.ts ADDRESS NAMESPACE QUEUE BUNDLE. Prints what its steps do.
import { readFileSync } from 'node:fs'

import { runWorker } from '../src/index.ts'
import { makeActivities } from './activities.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)

const [address = '', namespace = '', taskQueue = '', bundle = ''] = process.argv.slice(2)
const worker = runWorker({
  address,
  namespace,
  taskQueue,
  workflows: { bundle: readFileSync(bundle, 'utf8') },
  activities: makeActivities(print),
  say: (what, cause) => void process.stderr.write(`${what}: ${String(cause)}\n`),
})
process.once('SIGTERM', () => void worker.stop())
await worker.ready
print('ready')
