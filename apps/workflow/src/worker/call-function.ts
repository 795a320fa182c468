import { TaskFailed } from '@skerry/cloud-client'
import { Fault, httpStatus, passing, type FaultKind } from '@skerry/fault'
import { Compile } from 'typebox/compile'

import type { FunctionCall, Json, Problem } from '../durable/verbs.ts'
import type { CloudFunction, FunctionWorld } from './function.ts'
import { functions, isFunction, type FunctionName } from './functions.ts'

/** An error in the DSL's words: what was asked for is refused, and asking again would not help. */
export class FunctionProblem extends Error {
  override readonly name = 'FunctionProblem'
  readonly problem: Problem

  constructor(problem: Problem, cause?: unknown) {
    super(problem.detail ?? problem.type, { cause })
    this.problem = problem
  }
}

const TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
/** All that is not named here is an error of communication: the cloud was asked, and said no. */
const types: Readonly<
  Partial<Record<FaultKind, { readonly type: string; readonly title: string }>>
> = {
  invalid: { type: 'validation', title: 'Not valid' },
  unauthenticated: { type: 'authentication', title: 'This run may not act any more' },
  forbidden: { type: 'authorization', title: 'Not allowed' },
  'timed-out': { type: 'timeout', title: 'Not in time' },
}
/** The DSL has a number of its own for what was not in time. */
const TIMED_OUT = 408

export function problemOf({ kind, message, hint }: Fault): Problem {
  const { type, title } = types[kind] ?? { type: 'communication', title: 'The cloud refused' }
  return {
    ...{ type: `${TYPES}${type}`, title },
    status: kind === 'timed-out' ? TIMED_OUT : httpStatus[kind],
    detail: hint === undefined ? message : `${message}; ${hint}`,
  }
}

const compiled = new Map<FunctionName, ReturnType<typeof Compile>>()

function checkInput(name: FunctionName, row: CloudFunction, input: unknown): void {
  const shape = compiled.get(name) ?? Compile(row.input)
  compiled.set(name, shape)
  if (shape.Check(input)) return
  const [first] = shape.Errors(input)
  throw new Fault('invalid', `${name}: ${first?.instancePath || 'its input'} ${first?.message}`)
}

/** A task that failed has failed for good; and a wait was told how long to be: it is the definition's to wait again. */
const mayPass = (error: Fault): boolean =>
  passing.has(error.kind) && error.kind !== 'timed-out' && !(error instanceof TaskFailed)

/**
 * Calls one of our functions. Throws a FunctionProblem for what a definition may catch, and a Fault where the cloud is away or asked
 * too often: then the same call, with the same key, may be made again.
 */
export async function callFunction(
  world: FunctionWorld,
  { name, grant, key, input }: Pick<FunctionCall, 'name' | 'grant' | 'key' | 'input'>,
): Promise<Json> {
  try {
    if (!isFunction(name)) throw new Fault('invalid', `there is no function ${name}`)
    const row: CloudFunction = functions[name]
    checkInput(name, row, input)
    return (await row.call(world, grant, key, input)) as Json
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (mayPass(error)) throw error
    throw new FunctionProblem(problemOf(error), error)
  }
}
