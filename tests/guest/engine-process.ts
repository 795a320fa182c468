// An engine on a lab host, driven from outside by lines of JSON on its standard input. This is how a test drives real machines,
// and what it kills to see what survives.
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'

import { fromLine, toLine, type Answer, type Errand, type Question } from './engine-lines.ts'

const errands = new Map<number, PromiseWithResolvers<never>>()

/** The other host of a move, reached through the driver of both. */
function errand(call: string, ...args: readonly unknown[]): Promise<never> {
  const done = Promise.withResolvers<never>()
  const number = errands.size + 1
  errands.set(number, done)
  process.stdout.write(toLine({ errand: number, call, args } satisfies Errand))
  return done.promise
}

const target: engine.MoveTarget = {
  makeReady: (departure) => errand('makeReady', departure),
  prepare: (move, leg) => errand('prepareArrival', move, leg),
  finish: (move, leg) => errand('finishArrival', move, leg),
  decide: (question) => errand('decideArrival', question),
}

await using host = await engine.openHost({
  libvirt: { socket: '/run/libvirt/libvirt-sock', uri: 'qemu:///system' },
  clock: { now: () => new Date() },
  ids: { uuid: () => randomUUID() },
  targetOf: () => target,
  log: (message, cause) => console.error(`note: ${message}`, cause ?? ''),
})

type Work = (host: engine.Host, ...args: readonly unknown[]) => unknown
const functions: Readonly<Record<string, unknown>> = engine
const say = (answer: Answer) => process.stdout.write(toLine(answer))

function settleErrand(line: Answer): void {
  const done = errands.get(line.id)
  if ('fault' in line) done?.reject(new Fault(line.fault.kind, line.fault.message))
  else done?.resolve(line.value as never)
}

async function answer({ id, call, args }: Question): Promise<void> {
  try {
    const work = functions[call] as Work
    say({ id, value: await work(host, ...args) })
  } catch (error) {
    if (!(error instanceof Fault)) console.error(error)
    const { kind, message, hint } =
      error instanceof Fault ? error : new Fault('unavailable', String(error))
    say({ id, fault: { kind, message, ...(hint !== undefined && { hint }) } })
  }
}

say({ id: 0, value: 'ready' })
const waiting = new Set<Promise<void>>()
for await (const line of createInterface({ input: process.stdin })) {
  const requested = fromLine(line) as Question | Answer
  if (!('call' in requested)) {
    settleErrand(requested)
    continue
  }
  const work = answer(requested).finally(() => waiting.delete(work))
  waiting.add(work)
}
await Promise.all(waiting)
