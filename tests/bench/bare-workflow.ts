// The bare workflow: as many steps as a power-on has, its claim and its end among them, and nothing in any of them.
import { proxyLocalActivities } from '@temporalio/workflow'

const { step } = proxyLocalActivities<{ step(name: string): Promise<void> }>({
  startToCloseTimeout: '30s',
})

export async function bareOperation(): Promise<void> {
  await step('claim')
  await step('run')
  await step('end')
}
