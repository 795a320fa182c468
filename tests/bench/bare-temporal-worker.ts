import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { Temporal } from '@skerry/lab'
import { connectTemporal } from '@skerry/temporal'

const TASK_QUEUE = 'bare'

/** Baseline runs at a Temporal server: started by us, executed by a worker in its own process. */
export interface BareTemporal extends AsyncDisposable {
  readonly pid: number
  /** The number of runs, and of concurrent starts; resolves when all have ended. */
  carryOut(count: number, lanes: number): Promise<void>
}

export async function startBareTemporal({ address, namespace }: Temporal): Promise<BareTemporal> {
  await using stack = new AsyncDisposableStack()
  const program = `${import.meta.dirname}/bare-temporal.ts`
  const child = spawn(process.execPath, [program, address, namespace, TASK_QUEUE], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  stack.defer(async () => {
    child.stdin.end()
    await ended
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async (word: string) => {
    const { done, value } = await lines.next()
    if (done === true || value !== word) throw new Error(`the bare worker said "${value}"`)
  }
  await hear('ready')
  const temporal = stack.use(connectTemporal({ address, namespace, callTimeoutMs: 30_000 }))
  let started = 0
  const all = stack.move()
  return {
    pid: child.pid ?? 0,
    async carryOut(count, lanes) {
      let left = count
      const lane = async () => {
        while (left-- > 0) {
          const workflowId = `bare/${(started += 1)}`
          await temporal.within((client) =>
            client.workflow.start('bareOperation', { workflowId, taskQueue: TASK_QUEUE }),
          )
        }
      }
      await Promise.all(Array.from({ length: lanes }, lane))
      for (let heard = 0; heard < count; heard += 1) await hear('ended')
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
