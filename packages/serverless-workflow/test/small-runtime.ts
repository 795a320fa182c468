// An environment for the interpreter without Temporal: the real jq, the machine's clock, HTTP by fetch, functions counted by key.
import { setTimeout as sleep } from 'node:timers/promises'

import type { Evaluator } from '@skerry/jq'
import { parse } from 'yaml'

import type { DefinitionDocument } from '../src/definition/definition.ts'
import { type RunEnd, interpret } from '../src/interpreter/interpret.ts'
import { Raised } from '../src/interpreter/problem.ts'
import {
  type Limits,
  RUN_LIMITS,
  newState,
  type RunState,
  type Runtime,
} from '../src/interpreter/scope.ts'
import { Stop, RunStopped } from '../src/interpreter/stop.ts'
import type {
  AskNote,
  ChildRun,
  FunctionCall,
  HttpAnswer,
  HttpCall,
  Json,
  RunProgress,
  RunEvent,
  StepNote,
} from '../src/interpreter/verbs.ts'

export interface SmallOptions {
  readonly evaluator: Evaluator
  readonly functions?: Readonly<Record<string, (input: Json, call: FunctionCall) => Promise<Json>>>
  readonly child?: (child: ChildRun) => Promise<Json>
  readonly callHttp?: (call: HttpCall) => Promise<HttpAnswer>
  readonly limits?: Partial<Limits>
  /** Continues under a new history before every task but the first of each. */
  readonly leaves?: boolean
  readonly hears?: (running: RunningRun) => void
}

export interface RunningRun {
  readonly state: () => RunState
  readonly stop: Stop
  readonly reported: RunProgress[]
  readonly send: (event: Partial<RunEvent> & { readonly type: string }) => void
}

export interface SmallEnd {
  readonly ended: RunEnd
  readonly steps: readonly StepNote[]
  readonly asks: readonly AskNote[]
  readonly calls: readonly FunctionCall[]
  readonly https: readonly HttpCall[]
  readonly states: readonly string[]
  /** The number of new histories. */
  readonly left: number
}

/** Runs a definition to its end. */
export async function runSmall(
  definition: string | DefinitionDocument,
  input: Json,
  options: SmallOptions,
): Promise<SmallEnd> {
  const document =
    typeof definition === 'string' ? (parse(definition) as DefinitionDocument) : definition
  const reported: RunProgress[] = []
  const calls: FunctionCall[] = []
  const https: HttpCall[] = []
  const stop = new Stop()
  const bell = new EventTarget()
  let state = newState(Date.now())
  let boundaries = 0
  let left = 0
  const running: RunningRun = {
    state: () => state,
    stop,
    reported,
    send(event) {
      const number = ++state.events
      const whole = { id: `event-${number}`, source: 'test', data: null, ...event }
      state.inbox.push({ number, event: whole })
      bell.dispatchEvent(new Event('event'))
    },
  }
  const runtime: Runtime = {
    evaluate: async (ask) => options.evaluator.evaluate(ask),
    validate: async (schema, value) => options.evaluator.validate(schema, value),
    async record(progress) {
      // Concurrent writes do not finish in order.
      await sleep(Math.random() * 4)
      reported.push(structuredClone(progress))
      options.hears?.(running)
    },
    async callFunction(call) {
      calls.push(call)
      return (options.functions?.[call.name] ?? missing)(call.input, call)
    },
    async callHttp(call) {
      https.push(call)
      return (options.callHttp ?? fetchPlainly)(call)
    },
    async runChild(child, waits) {
      const made = (options.child ?? missing)(child)
      return waits ? made : null
    },
    sleepUntil,
    eventAfter: async (number, until, inner) =>
      orStopped(inner, async (signal) =>
        waitFor(bell, () => state.inbox.some((each) => each.number > number), until, signal),
      ),
    now: () => Date.now(),
    chance: () => Math.random(),
    id: () => crypto.randomUUID(),
    isFull: () => (options.leaves === true && ++boundaries > 1 ? 'should' : 'no'),
  }
  const run = { execution: 'run-1', grant: 'grant-1', definition: 'digest' }
  for (;;) {
    boundaries = 0
    const given = { ...RUN_LIMITS, ...options.limits }
    const ended = await interpret(run, { document, input }, state, { runtime, stop, limits: given })
    if (ended.ended !== 'leaving') return { ended, calls, https, left, ...all(reported) }
    left++
    // Only what JSON keeps is carried over.
    state = JSON.parse(JSON.stringify(state)) as RunState
  }
}

/** Node's timers may fire a millisecond early; here they usually do. */
const sleepUntil: Runtime['sleepUntil'] = async (time, inner) =>
  orStopped(inner, async (signal) => {
    await sleep(Math.max(1, time - Date.now() - 1), undefined, { signal })
  })

const all = (reported: readonly RunProgress[]) => ({
  steps: reported.flatMap((each) => each.steps),
  asks: reported.flatMap((each) => each.asks),
  states: reported.map((each) => each.state),
})

async function missing(): Promise<Json> {
  throw new Error('this test has no such function')
}

async function waitFor(
  bell: EventTarget,
  met: () => boolean,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const over = AbortSignal.timeout(Math.min(Math.max(0, until - Date.now()), 60_000))
  while (!over.aborted && !met()) {
    await new Promise<void>((resolve, reject) => {
      bell.addEventListener('event', () => resolve(), { once: true })
      over.addEventListener('abort', () => resolve(), { once: true })
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
    })
  }
}

async function orStopped(stop: Stop, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const aborting = new AbortController()
  const leave = stop.onStop(() => aborting.abort())
  try {
    await work(aborting.signal)
  } catch (error) {
    throw stop.word === undefined ? error : new RunStopped(stop.word)
  } finally {
    leave()
  }
}

export async function fetchPlainly(call: HttpCall): Promise<HttpAnswer> {
  const headers = new Headers(call.headers as Record<string, string>)
  const { authentication: access } = call
  if (access !== undefined && 'basic' in access) {
    const { username, password } = access.basic as { username: string; password: string }
    headers.set('authorization', `Basic ${btoa(`${username}:${password}`)}`)
  }
  try {
    const answer = await fetch(call.uri, {
      method: call.method,
      headers,
      redirect: 'manual',
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    })
    const text = await answer.text()
    const json = answer.headers.get('content-type')?.includes('json') === true
    const content = json ? (JSON.parse(text) as Json) : text
    return { status: answer.status, headers: Object.fromEntries(answer.headers), content }
  } catch (error) {
    throw new Raised({ type: 'communication', status: 503, title: String(error) })
  }
}
