// Workflows for the tests of this package. They import a TypeScript file and a workspace package, as real ones do.
import { retryableKinds } from '@skerry/fault'
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

/** One quick step, one long one; returns both results. */
export async function twoSteps(name: string): Promise<string[]> {
  return [await quick.say(`quick ${name}`), await long.say(`long ${name}`)]
}

/** A step that fails with a kind; returns what the workflow reads from it. */
export async function failing(kind: string): Promise<string> {
  try {
    return await quick.fail(kind)
  } catch (error) {
    return `${reasonOf(error)} ${retryableKinds.size}`
  }
}

/** Does not catch the failure. */
export async function failsOutright(kind: string): Promise<void> {
  await quick.fail(kind)
}

/** A long step that lasts until the file it is given appears. */
export async function waitsFor(file: string): Promise<string> {
  return long.waitFor(file)
}

/** Waits until the signal was received this many times. */
export async function rings(times: number): Promise<number> {
  let wakeUps = 0
  setHandler(bell, () => {
    wakeUps++
  })
  await condition(() => wakeUps >= times)
  return wakeUps
}

export async function mark(): Promise<void> {
  await quick.say('marked')
}
