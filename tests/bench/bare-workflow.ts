// The baseline workflow: as many steps as a power-on, including claim and end, all empty.
import { proxyLocalActivities } from '@temporalio/workflow'

const { step } = proxyLocalActivities<{ step(name: string): Promise<void> }>({
  startToCloseTimeout: '30s',
})

export async function bareOperation(): Promise<void> {
  await step('claim')
  await step('run')
  await step('end')
}
