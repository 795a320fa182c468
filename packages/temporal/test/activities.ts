// Steps for the tests of this package.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault, type FaultKind } from '@skerry/fault'
import { Context } from '@temporalio/activity'

export function makeActivities(heard: (what: string) => void) {
  return {
    async say(what: string): Promise<string> {
      heard(what)
      return what
    },
    async fail(kind: string): Promise<string> {
      heard(kind)
      if (kind === 'bug') throw new TypeError('a bug')
      throw new Fault(kind as FaultKind, `it was ${kind}`, { hint: 'try another' })
    },
    async waitFor(file: string): Promise<string> {
      heard(`waiting as ${process.pid}`)
      const { cancellationSignal } = Context.current()
      while (!existsSync(file)) await sleep(50, undefined, { signal: cancellationSignal })
      return `found by ${process.pid}`
    },
  }
}
export type Activities = ReturnType<typeof makeActivities>
