/**
 * Expressions and schemas are untrusted programs: they run in threads, which are terminated and replaced when they take too long.
 * The limit is the CPU time of the thread, so that a busy machine causes no failures.
 */
import { Worker } from 'node:worker_threads'

import { Fault } from '@skerry/fault'

import type { ThreadAnswer, ThreadWork } from './jq-thread.ts'
import type { Evaluated, Evaluation, InvalidValue, Json } from './json.ts'

export interface EvaluatorOptions {
  /** Default: 2. */
  readonly threads?: number
  /** CPU time of the thread for one step. Default: 1 s. */
  readonly cpuMs?: number
  /** Wall-clock time for one step. Default: 20 s. */
  readonly timeMs?: number
  /** Memory that jq may allocate. Default: 64 MiB. */
  readonly memoryBytes?: number
  /** The largest result of an expression. Default: 256 KiB. */
  readonly outputBytes?: number
  /** The largest input of expressions. Default: 4 MiB. */
  readonly inputBytes?: number
}

export interface Evaluator extends AsyncDisposable {
  /** Evaluates several jq expressions on the same value. Each result is a value or an error. */
  readonly evaluate: (ask: Evaluation) => Promise<readonly Evaluated[]>
  /** Validates a value against a JSON Schema; [] if valid. No error contains the value. */
  readonly findInvalid: (schema: object, value: Json) => Promise<readonly InvalidValue[]>
  /** The same, with place and message in one text. */
  readonly validate: (schema: object, value: Json) => Promise<readonly string[]>
}

const KIB = 1024
/** jq keeps its program on a stack of 64 KiB. */
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
  const findInvalid: Evaluator['findInvalid'] = async (schema, value) => {
    if (sizeOf(value) > inputBytes) return [{ at: '', message: `larger than ${inputBytes} bytes` }]
    const answer = await pool.run({ validate: { schema, value } })
    if (answer === 'too long') {
      return [{ at: '', message: 'could not be validated in time: the schema is too complex' }]
    }
    if ('invalid' in answer) return answer.invalid
    throw new Error('bug' in answer ? answer.bug : 'unexpected result from the thread')
  }
  return {
    async evaluate(ask) {
      const refused = whyNot(ask, inputBytes)
      if (refused !== undefined) return ask.expressions.map(() => ({ wrong: refused }))
      const work: ThreadWork = { evaluate: ask, limits }
      const answer = await pool.run(work)
      if (answer !== 'too long') return limitTotal(evaluatedOf(answer), outputBytes)
      const tooLong = { wrong: `the expression takes more than ${cpuMs / 1_000} s` }
      // One of several took too long; evaluate each alone, so that the others have a result.
      if (ask.expressions.length === 1) return [tooLong]
      const alone = await Promise.all(
        ask.expressions.map(async (each) =>
          pool.run({ evaluate: { ...ask, expressions: [each] }, limits }),
        ),
      )
      const all = alone.flatMap((each) => (each === 'too long' ? [tooLong] : evaluatedOf(each)))
      return limitTotal(all, outputBytes)
    },
    findInvalid,
    async validate(schema, value) {
      const invalid = await findInvalid(schema, value)
      return invalid.map(({ at, message }) => `${at === '' ? '/' : at} ${message}`)
    },
    [Symbol.asyncDispose]: async () => pool.close(),
  }
}

/** All results of a step are in one history event, which Temporal limits to 2 MiB. */
function limitTotal(answers: readonly Evaluated[], outputBytes: number): readonly Evaluated[] {
  const most = 4 * outputBytes
  if (sizeOf(answers) <= most) return answers
  return answers.map(() => ({ wrong: `the expressions of a task return more than ${most} bytes` }))
}

function evaluatedOf(answer: ThreadAnswer): readonly Evaluated[] {
  if ('evaluated' in answer) return answer.evaluated
  throw new Error('bug' in answer ? answer.bug : 'unexpected result from the thread')
}

function whyNot({ expressions, on, variables }: Evaluation, inputBytes: number) {
  if (expressions.some((each) => Buffer.byteLength(each) > MOST_EXPRESSION)) {
    return `an expression may have at most ${MOST_EXPRESSION} bytes`
  }
  return sizeOf([on, variables]) > inputBytes
    ? `the input of an expression may have at most ${inputBytes} bytes`
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
      throw new Fault('too-many', 'too many expressions are queued')
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
    // jq prints its errors on the console too; they are in the result already.
    stdout: true,
    stderr: true,
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  })
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    // Not once: a thread can report a second error while it ends, and an error without a listener ends the process.
    worker.on('error', reject)
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
  // A thread that runs out of memory ends with an error; the work was too large.
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
