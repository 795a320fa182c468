// A run written for Temporal alone: the same activities of the same kinds in the same order as the definition in workflow.ts,
// without an interpreter. Replayed: no I/O here.
import type { RunInput, Json } from '@skerry/serverless-workflow'
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow'

import type { RunActivities } from '../../apps/workflow/src/durable/run-activities.ts'

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
const quick = proxyLocalActivities<RunActivities>({ startToCloseTimeout: '60s', retry })
const functions = proxyActivities<RunActivities>({
  heartbeatTimeout: '8s',
  retry,
  scheduleToCloseTimeout: '24h',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
})

interface Counted {
  readonly name: string
  readonly n: number
}

export async function bareRun({ execution, grant, definition }: RunInput): Promise<Json> {
  const { input } = await quick.loadRun({ execution, grant, definition })
  let data = input as unknown as Counted
  const tell = async (number: number, name: string) =>
    quick.record({
      execution,
      state: 'running',
      asks: [],
      steps: [
        { number, at: Date.now(), place: `/do/${number}/${name}`, name, what: 'ended' },
        { number: number + 1, at: Date.now(), place: `/do/${number}/${name}`, name, what: 'began' },
      ],
    })
  for (const [step, adds] of [true, false, true, false, true].entries()) {
    let { n } = data
    if (adds) {
      const [sum] = await quick.evaluate({
        expressions: ['.n + 1'],
        on: { ...data },
        variables: {},
      })
      n = sum !== undefined && 'value' in sum ? Number(sum.value) : Number.NaN
    }
    await tell(step, `call-${step}`)
    const output = await functions.callFunction({
      execution,
      grant,
      key: `${execution}/${step}`,
      name: 'skerry.test.yes',
      input: { name: data.name, n },
    })
    data = (output as unknown as { input: Counted }).input
  }
  await quick.record({ execution, state: 'completed', steps: [], asks: [], output: { ...data } })
  await quick.endGrant(grant)
  return { ...data }
}
