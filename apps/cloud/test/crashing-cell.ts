// A cell that is killed at chosen steps: node crashing-cell.ts CONFIG.json IDENTITY.json REPORT COUNT
// A task of a VM whose name begins with 'before STEP ' or 'after STEP ' stops there. REPORT gets a line for each that has reached
// its point; with the last of COUNT the process kills itself, and all of them stay at their points.
import { appendFileSync } from 'node:fs'

import { operations } from '../src/operations/vm-operations.ts'
import { readClaimed } from '../src/tasks/claim-task.ts'
import type { StepContext, Step } from '../src/tasks/operation.ts'

const [report = '', count = '0'] = process.argv.slice(4)
const KEEP_MS = 2000
const arrived = new Set<string>()

const keepClaim = ({ context, order }: StepContext) =>
  readClaimed(context.db, { task: order.task, fence: order.fencingToken })

/** Never resolves. The claim is renewed while others are in progress: no one may take it over before the end. */
function stay(at: StepContext, operation: string, step: string, when: string): Promise<never> {
  if (!arrived.has(at.vm.id)) {
    arrived.add(at.vm.id)
    appendFileSync(report, `${JSON.stringify({ vm: at.vm.id, operation, step, when })}\n`)
    setInterval(() => void keepClaim(at).catch(() => undefined), KEEP_MS)
  }
  if (arrived.size === Number(count)) process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

function withCrashes(operation: string, step: Step): Pick<Step, 'run'> {
  const { name } = step
  const run = step.run.bind(step)
  const isAt = (at: StepContext, when: string) => at.vm.name.startsWith(`${when} ${name} `)
  return {
    async run(at) {
      if (isAt(at, 'before')) await stay(at, operation, name, 'before')
      await run(at)
      if (isAt(at, 'after')) await stay(at, operation, name, 'after')
    },
  }
}

for (const { name, steps } of operations) {
  for (const step of steps) Object.assign(step, withCrashes(name, step))
}
await import('./cell-process.ts')
