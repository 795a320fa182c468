// Errors as the DSL defines them.
import type { ErrorFilter } from '../definition/task.ts'
import type { Problem } from './verbs.ts'

/** The prefix of the DSL's error types. */
export const ERROR_TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
/** The DSL's error types, each with its default status. */
const standard = {
  configuration: { status: 400, title: 'Invalid configuration' },
  validation: { status: 400, title: 'Invalid value' },
  expression: { status: 400, title: 'The expression failed' },
  authentication: { status: 401, title: 'Not authenticated' },
  authorization: { status: 403, title: 'Not allowed' },
  timeout: { status: 408, title: 'Timed out' },
  communication: { status: 500, title: 'The call failed' },
  runtime: { status: 500, title: 'The run cannot continue' },
} as const
export type ProblemKind = keyof typeof standard

/** The error of a failed task, unless an enclosing `try` catches it. */
export class Raised extends Error {
  override readonly name = 'Raised'
  readonly problem: Problem
  /** A limit of the whole run is used up: no `catch` applies. */
  readonly final: boolean

  constructor(problem: Problem, final = false) {
    super(problem.detail ?? problem.title ?? problem.type)
    this.problem = problem
    this.final = final
  }
}

export const problem = (
  kind: ProblemKind,
  detail: string,
  more: Partial<Problem> = {},
): Problem => ({
  type: ERROR_TYPES + kind,
  ...standard[kind],
  detail,
  ...more,
})

export const raise = (kind: ProblemKind, instance: string, detail: string): Raised =>
  new Raised(problem(kind, detail, { instance }))

export const usedUp = (kind: ProblemKind, instance: string, detail: string): Raised =>
  new Raised(problem(kind, detail, { instance }), true)

/** Whether a `catch` filter matches this error. Fields missing in the filter match any value. */
export function matches(filter: ErrorFilter | undefined, error: Problem): boolean {
  if (filter === undefined) return true
  const { type, status, instance, title, details } = filter
  return (
    (type === undefined || sameType(type, error.type)) &&
    (status === undefined || status === error.status) &&
    (instance === undefined || instance === error.instance) &&
    (title === undefined || title === error.title) &&
    (details === undefined || details === error.detail)
  )
}

/** Accepts an older form of the type URIs too, as the DSL's examples and conformance scenarios use both. */
const sameType = (one: string, other: string): boolean =>
  currentTypeUri(one) === currentTypeUri(other)
const currentTypeUri = (type: string): string =>
  type.replace(/^https:\/\/serverlessworkflow\.io(\.io)?\/dsl\/errors\/types\//, ERROR_TYPES)
