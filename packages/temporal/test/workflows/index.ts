// Workflows for the tests of this room. They import a file of TypeScript by its name and a room of ours, as real ones do.
import { passing } from '@skerry/fault'
import {
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow'

import type { Activities } from '../activities.ts'
import { reasonOf } from './reason.ts'

const retry = { initialInterval: '200ms', maximumInterval: '1s' } as const
const quick = proxyLocalActivities<Activities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry,
})
const long = proxyActivities<Activities>({
  scheduleToCloseTimeout: '10m',
  heartbeatTimeout: '8s',
  retry,
})

export const bell = defineSignal('bell')

/** One quick step, one long one; answers what both said. */
export async function twoSteps(name: string): Promise<string[]> {
  return [await quick.say(`quick ${name}`), await long.say(`long ${name}`)]
}

/** A step that fails with a kind; answers what the workflow makes of it. */
export async function failing(kind: string): Promise<string> {
  try {
    return await quick.fail(kind)
  } catch (error) {
    return `${reasonOf(error)} ${passing.size}`
  }
}

/** Lets the failure out. */
export async function failsOutright(kind: string): Promise<void> {
  await quick.fail(kind)
}

/** A long step that lasts until the file it is given appears. */
export async function waitsFor(file: string): Promise<string> {
  return long.waitFor(file)
}

/** Rests until the bell has rung so many times. */
export async function rings(times: number): Promise<number> {
  let rung = 0
  setHandler(bell, () => {
    rung++
  })
  await condition(() => rung >= times)
  return rung
}

export async function mark(): Promise<void> {
  await quick.say('marked')
}
