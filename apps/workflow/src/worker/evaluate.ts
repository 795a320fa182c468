/**
 * Expressions and schemas are other people's programs: they are worked in threads that are ended when they take too long, and
 * replaced. A thread counts its own CPU, so that a busy machine fails nobody.
 */
import { Worker } from 'node:worker_threads'

import { Fault } from '@skerry/fault'

import type { Evaluated, Evaluation, Json, Verbs } from '../durable/verbs.ts'
import type { ThreadAnswer, ThreadWork } from './jq-thread.ts'

export interface EvaluatorOptions {
  /** 2 unless told. */
  readonly threads?: number
  /** Of the thread's own CPU, for one step; 1 s unless told. */
  readonly cpuMs?: number
  /** Of anybody's clock, for one step; 20 s unless told. */
  readonly timeMs?: number
  /** What jq may allocate; 64 MiB unless told. */
  readonly memoryBytes?: number
  /** The largest value that an expression may give; 256 KiB unless told. */
  readonly outputBytes?: number
  /** The largest data that expressions are given; 4 MiB unless told. */
  readonly inputBytes?: number
}

export interface Evaluator extends Pick<Verbs, 'evaluate' | 'validate'>, AsyncDisposable {}

const KIB = 1024
/** jq has its program on a stack of 64 KiB. */
const MOST_EXPRESSION = 8 * KIB
const MOST_WAITING = 1_000
const LOOK_MS = 100

export function startEvaluator(options: EvaluatorOptions = {}): Evaluator {
  const {
    threads = 2,
    cpuMs = 1_000,
    timeMs = 20_000,
    memoryBytes = 64 * KIB * KIB,
    outputBytes = 256 * KIB,
    inputBytes = 4 * KIB * KIB,
  } = options
  const pool = new Threads(threads, { cpuMs, timeMs })
  const limits = { memoryBytes, outputBytes }
  return {
    async evaluate(ask) {
      const refused = whyNot(ask, inputBytes)
      if (refused !== undefined) return ask.expressions.map(() => ({ wrong: refused }))
      const work: ThreadWork = { evaluate: ask, limits }
      const answer = await pool.run(work)
      if (answer !== 'too long') return together(evaluatedOf(answer), outputBytes)
      const tooLong = { wrong: `the expression takes more than ${cpuMs / 1_000} s` }
      // One of several took too long; the others have their answer nevertheless.
      if (ask.expressions.length === 1) return [tooLong]
      const alone = await Promise.all(
        ask.expressions.map(async (each) =>
          pool.run({ evaluate: { ...ask, expressions: [each] }, limits }),
        ),
      )
      const all = alone.flatMap((each) => (each === 'too long' ? [tooLong] : evaluatedOf(each)))
      return together(all, outputBytes)
    },
    async validate(schema, value) {
      if (sizeOf(value) > inputBytes) return [`/ is larger than ${inputBytes} bytes`]
      const answer = await pool.run({ validate: { schema, value } })
      if (answer === 'too long') return ['/ could not be looked at in time: the schema is too much']
      if ('wrong' in answer) return answer.wrong
      throw new Error('bug' in answer ? answer.bug : 'the thread answered something else')
    },
    [Symbol.asyncDispose]: async () => pool.close(),
  }
}

/** All answers of a step stand in one event of a history, which Temporal bounds at 2 MiB. */
function together(answers: readonly Evaluated[], outputBytes: number): readonly Evaluated[] {
  const most = 4 * outputBytes
  if (sizeOf(answers) <= most) return answers
  return answers.map(() => ({ wrong: `the expressions of a task give more than ${most} bytes` }))
}

function evaluatedOf(answer: ThreadAnswer): readonly Evaluated[] {
  if ('evaluated' in answer) return answer.evaluated
  throw new Error('bug' in answer ? answer.bug : 'the thread answered something else')
}

function whyNot({ expressions, on, variables }: Evaluation, inputBytes: number) {
  if (expressions.some((each) => Buffer.byteLength(each) > MOST_EXPRESSION)) {
    return `an expression may have ${MOST_EXPRESSION} bytes`
  }
  return sizeOf([on, variables]) > inputBytes
    ? `an expression may be given ${inputBytes} bytes of data`
    : undefined
}

const sizeOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

interface Limits {
  readonly cpuMs: number
  readonly timeMs: number
}
interface Thread {
  readonly worker: Worker
  readonly ready: Promise<void>
}

class Threads {
  private readonly idle: Thread[] = []
  private readonly waiting: ((thread: Thread) => void)[] = []
  private readonly all = new Set<Thread>()
  private readonly limits: Limits
  private closed = false

  constructor(count: number, limits: Limits) {
    this.limits = limits
    for (let n = 0; n < count; n++) this.give(startThread(this.all))
  }

  async run(work: ThreadWork): Promise<ThreadAnswer | 'too long'> {
    const thread = await this.take()
    try {
      await thread.ready
      const answer = await askThread(thread.worker, work, this.limits)
      this.give(thread)
      return answer
    } catch (error) {
      this.all.delete(thread)
      await thread.worker.terminate()
      if (!this.closed) this.give(startThread(this.all))
      if (error instanceof TookTooLong) return 'too long'
      throw error
    }
  }

  async close(): Promise<void> {
    this.closed = true
    await Promise.all([...this.all].map(async ({ worker }) => worker.terminate()))
  }

  private async take(): Promise<Thread> {
    const thread = this.idle.pop()
    if (thread !== undefined) return thread
    if (this.waiting.length >= MOST_WAITING) {
      throw new Fault('too-many', 'too many expressions wait for their turn')
    }
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  private give(thread: Thread): void {
    const next = this.waiting.shift()
    if (next === undefined) this.idle.push(thread)
    else next(thread)
  }
}

function startThread(all: Set<Thread>): Thread {
  const worker = new Worker(new URL('./jq-thread.ts', import.meta.url), {
    // jq says on the console what it also says by its end.
    ...{ stdout: true, stderr: true, env: {}, argv: [], execArgv: [] },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  })
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
  })
  ready.catch(() => undefined)
  const thread = { worker, ready }
  all.add(thread)
  return thread
}

class TookTooLong extends Error {}

async function askThread(worker: Worker, work: ThreadWork, limits: Limits): Promise<ThreadAnswer> {
  const began = performance.now()
  const before = await cpuOf(worker)
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>()
  worker.once('message', resolve)
  // A thread that had no memory left for itself ends with an error; what it worked on is what was too much.
  const broken = () => reject(new TookTooLong())
  worker.once('error', broken)
  worker.once('exit', broken)
  worker.postMessage(work, [])
  const look = setInterval(() => {
    const late = performance.now() - began > limits.timeMs
    cpuOf(worker).then((now) => {
      if (late || now - before > limits.cpuMs) reject(new TookTooLong())
    }, broken)
  }, LOOK_MS)
  try {
    return await promise
  } finally {
    clearInterval(look)
    worker.off('message', resolve)
    worker.off('error', broken)
    worker.off('exit', broken)
  }
}

async function cpuOf(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1_000
}
