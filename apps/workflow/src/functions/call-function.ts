import { TaskFailed } from '@skerry/cloud-client'
import { Fault, httpStatus, retryableKinds, type FaultKind } from '@skerry/fault'
import { Compile } from '@skerry/schema'
import {
  ERROR_TYPES,
  type FunctionCall,
  type Json,
  type Problem,
} from '@skerry/serverless-workflow'

import type { CloudFunction, FunctionContext } from './function.ts'
import { functions, isFunction, type FunctionName } from './functions.ts'

/** An error as the DSL defines it: the request was rejected, and a retry would not help. */
export class FunctionProblem extends Error {
  override readonly name = 'FunctionProblem'
  readonly problem: Problem

  constructor(problem: Problem, cause?: unknown) {
    super(problem.detail ?? problem.type, { cause })
    this.problem = problem
  }
}

/** All other kinds are communication errors: the cloud rejected the request. */
const types: Readonly<
  Partial<Record<FaultKind, { readonly type: string; readonly title: string }>>
> = {
  invalid: { type: 'validation', title: 'Invalid value' },
  unauthenticated: { type: 'authentication', title: 'This run is no longer authorized' },
  forbidden: { type: 'authorization', title: 'Not allowed' },
  'timed-out': { type: 'timeout', title: 'Timed out' },
}
/** The DSL's own status for a timeout. */
const TIMED_OUT = 408

export function problemOf({ kind, message, hint }: Fault): Problem {
  const { type, title } = types[kind] ?? {
    type: 'communication',
    title: 'The cloud rejected the request',
  }
  return {
    type: `${ERROR_TYPES}${type}`,
    title,
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

/** A failed task is final, and a wait had its own limit: the definition decides whether to wait again. */
const mayPass = (error: Fault): boolean =>
  retryableKinds.has(error.kind) && error.kind !== 'timed-out' && !(error instanceof TaskFailed)

/**
 * Calls a built-in function. Throws a FunctionProblem for what a definition may catch, and a Fault if the cloud is unavailable or
 * rate-limits: then the call can be repeated with the same key.
 */
export async function callFunction(
  context: FunctionContext,
  { name, grant, key, input }: Pick<FunctionCall, 'name' | 'grant' | 'key' | 'input'>,
): Promise<Json> {
  try {
    if (!isFunction(name)) throw new Fault('invalid', `unknown function ${name}`)
    const row: CloudFunction = functions[name]
    checkInput(name, row, input)
    return (await row.call(context, grant, key, input)) as Json
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (mayPass(error)) throw error
    throw new FunctionProblem(problemOf(error), error)
  }
}
