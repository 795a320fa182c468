// A baseline Temporal worker in its own process: node bare-temporal.ts ADDRESS NAMESPACE QUEUE. Prints "ready", then a line for
// every run that has reached its last step.
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2)
Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  workflowsPath: `${import.meta.dirname}/bare-workflow.ts`,
  activities: {
    async step(name: string) {
      if (name === 'end') process.stdout.write('ended\n')
    },
  },
})
const over = worker.run()
process.stdout.write('ready\n')
process.stdin.on('end', () => worker.shutdown()).resume()
await over
process.exit()
