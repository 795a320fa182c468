// A cell that is killed at chosen steps: node crashing-cell.ts CONFIG.json IDENTITY.json REPORT COUNT
// A VM whose name begins with 'before STEP ' or 'after STEP ' goes no further than there. REPORT gets a line for each that has come
// to its place; with the last of COUNT the process kills itself, and all of them are where they are.
import { appendFileSync } from 'node:fs'

import type { At, Step } from '../src/operation.ts'
import { operations } from '../src/operations.ts'
import { readClaimed } from '../src/store/claim-task.ts'

const [report = '', count = '0'] = process.argv.slice(4)
const KEEP_MS = 2000
const arrived = new Set<string>()

const keepClaim = ({ world, order }: At) =>
  readClaimed(world.db, { task: order.task, number: order.number })

/** Never comes back. The claim is kept while others are on their way: nobody may take it over before the end. */
function stay(at: At, operation: string, step: string, when: string): Promise<never> {
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
  const isAt = (at: At, when: string) => at.vm.name.startsWith(`${when} ${name} `)
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
