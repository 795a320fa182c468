// A run as somebody would write it for Temporal alone: the same activities of the same kinds in the same order as the definition of
// workflow.ts asks for, and nothing that reads a definition. Replayed: no I/O here.
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow'

import type { RunInput } from '../../apps/workflow/src/durable/states.ts'
import type { Json, Verbs } from '../../apps/workflow/src/durable/verbs.ts'

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
const quick = proxyLocalActivities<Verbs>({ startToCloseTimeout: '60s', retry })
const functions = proxyActivities<Verbs>({
  ...{ heartbeatTimeout: '8s', retry, scheduleToCloseTimeout: '24h' },
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
      ...{ execution, state: 'running', asks: [] },
      steps: [
        { number, at: Date.now(), place: `/do/${number}/${name}`, name, what: 'ended' },
        { number: number + 1, at: Date.now(), place: `/do/${number}/${name}`, name, what: 'began' },
      ],
    })
  for (const [step, adds] of [true, false, true, false, true].entries()) {
    let { n } = data
    if (adds) {
      const [sum] = await quick.evaluate({
        ...{ expressions: ['.n + 1'], on: { ...data }, variables: {} },
      })
      n = sum !== undefined && 'value' in sum ? Number(sum.value) : Number.NaN
    }
    await tell(step, `call-${step}`)
    const output = await functions.callFunction({
      ...{ execution, grant, key: `${execution}/${step}`, name: 'skerry.test.yes' },
      input: { name: data.name, n },
    })
    data = (output as unknown as { input: Counted }).input
  }
  await quick.record({ execution, state: 'completed', steps: [], asks: [], output: { ...data } })
  await quick.endGrant(grant)
  return { ...data }
}
