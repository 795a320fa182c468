// An engine on a host of the lab, driven from outside by lines of JSON on its standard input.
// This is how a test drives real machines, and what it kills to see what survives.
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'

import { fromLine, toLine, type Answer, type Errand, type Question } from './engine-lines.ts'

await using host = await engine.openHost({
  libvirt: { socket: '/run/libvirt/libvirt-sock', uri: 'qemu:///system' },
  clock: { now: () => new Date() },
  ids: { uuid: () => randomUUID() },
  note: (message, cause) => console.error(`note: ${message}`, cause ?? ''),
})

type Work = (host: engine.Host, ...args: readonly unknown[]) => unknown
const functions: Readonly<Record<string, unknown>> = engine
const say = (answer: Answer) => process.stdout.write(toLine(answer))

const errands = new Map<number, PromiseWithResolvers<never>>()

/** The other host of a move, reached through whoever drives both. */
function errand(call: string, ...args: readonly unknown[]): Promise<never> {
  const done = Promise.withResolvers<never>()
  const number = errands.size + 1
  errands.set(number, done)
  process.stdout.write(toLine({ errand: number, call, args } satisfies Errand))
  return done.promise
}

const target: engine.Target = {
  makeReady: (departure) => errand('makeReady', departure),
  prepare: (_, leg) => errand('prepareArrival', leg),
  finish: (id, leg) => errand('finishArrival', id, leg),
  giveUp: (id) => errand('abandonArrival', id),
}

function settleErrand(line: Answer): void {
  const done = errands.get(line.id)
  if ('fault' in line) done?.reject(new Fault(line.fault.kind, line.fault.message))
  else done?.resolve(line.value as never)
}

async function answer({ id, call, args }: Question): Promise<void> {
  try {
    const work = functions[call] as Work
    const more = call === 'migrateVm' ? [args[0], target] : args
    say({ id, value: await work(host, ...more) })
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
  const asked = fromLine(line) as Question | Answer
  if (!('call' in asked)) {
    settleErrand(asked)
    continue
  }
  const work = answer(asked).finally(() => waiting.delete(work))
  waiting.add(work)
}
await Promise.all(waiting)
