import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import type { LabHost } from '@skerry/lab'

import { fromLine, toLine, type Answer, type Errand } from './engine-lines.ts'

type OnHost<F> = F extends (host: engine.Host, ...args: infer Args) => infer Ret
  ? (...args: Args) => Promise<Awaited<Ret>>
  : never
/** Executes a step of a move on the other host. */
export type Errands = (call: string, args: readonly unknown[]) => Promise<unknown>
type Functions = {
  [
    Name in keyof typeof engine as (typeof engine)[Name] extends (
      host: engine.Host,
      ...args: never[]
    ) => unknown
      ? Name
      : never
  ]: OnHost<(typeof engine)[Name]>
}

/** The engine's functions, executed in its own process on a lab host. */
export type RemoteEngine = Functions &
  AsyncDisposable & {
    readonly process: ChildProcess
    /** As by the kernel's OOM killer: without any notification. */
    kill(): Promise<void>
    /** Its log. */
    log(): string
  }

/** Starts an engine on the host; ready when it has repaired the host. */
export async function startEngine(host: LabHost, errands?: Errands): Promise<RemoteEngine> {
  const file = `${import.meta.dirname}/engine-process.ts`
  const child = host.spawn([process.execPath, file], { stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('the engine has no pipes')
  let log = ''
  stderr.on('data', (text: Buffer) => (log += text.toString()))
  stdin.on('error', () => undefined)

  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const ask = (id: number) => {
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    return answer.promise
  }
  const ended = once(child, 'exit').then(() => {
    for (const { reject } of waiting.values()) reject(new EngineGone(log))
    waiting.clear()
  })
  createInterface({ input: stdout }).on('line', (line) => {
    const parsed = fromLine(line) as Answer | Errand
    if ('errand' in parsed) {
      void runErrand(parsed, errands).then((answer) => stdin.write(toLine(answer)))
      return
    }
    const answer = parsed
    const waiter = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('value' in answer) waiter?.resolve(answer.value)
    else if ('fault' in answer) {
      const { kind, message, hint } = answer.fault
      waiter?.reject(new Fault(kind, message, hint === undefined ? {} : { hint }))
    } else waiter?.resolve(undefined)
  })

  await ask(0)
  let last = 0
  const own = {
    process: child,
    log: () => log,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async [Symbol.asyncDispose]() {
      stdin.end()
      await ended
    },
  }
  return new Proxy(own, {
    get: (target, name) =>
      name in target || typeof name === 'symbol' || name === 'then'
        ? Reflect.get(target, name)
        : (...args: readonly unknown[]) => {
            const id = ++last
            if (child.exitCode !== null || child.signalCode !== null)
              return Promise.reject(new EngineGone(log))
            const answer = ask(id)
            stdin.write(toLine({ id, call: name, args }))
            return answer
          },
  }) as unknown as RemoteEngine
}

async function runErrand({ errand, call, args }: Errand, errands?: Errands): Promise<Answer> {
  try {
    if (!errands) throw new Fault('unavailable', 'this engine has no other host')
    return { id: errand, value: await errands(call, args) }
  } catch (error) {
    const { kind, message } =
      error instanceof Fault ? error : new Fault('unavailable', String(error))
    return { id: errand, fault: { kind, message } }
  }
}

/** The process was killed before it answered. */
export class EngineGone extends Error {
  constructor(log: string) {
    super(`the engine's process is gone; its log: ${log.slice(-2000)}`)
  }
}
