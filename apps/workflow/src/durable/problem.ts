// Errors in the DSL's own words.
import type { ErrorFilter } from '../definition/task.ts'
import type { Problem } from './verbs.ts'

const TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
/** The types that the DSL knows, each with the status that it has unless told. */
const standard = {
  configuration: { status: 400, title: 'Wrong configuration' },
  validation: { status: 400, title: 'Not valid' },
  expression: { status: 400, title: 'The expression failed' },
  authentication: { status: 401, title: 'Not authenticated' },
  authorization: { status: 403, title: 'Not allowed' },
  timeout: { status: 408, title: 'Not in time' },
  communication: { status: 500, title: 'The call failed' },
  runtime: { status: 500, title: 'The run cannot go on' },
} as const
export type ProblemKind = keyof typeof standard

/** What a task fails with, unless a `try` around it catches it. */
export class Raised extends Error {
  override readonly name = 'Raised'
  readonly problem: Problem
  /** What the run as a whole used up, it cannot go on without: nothing catches that. */
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
  type: TYPES + kind,
  ...standard[kind],
  detail,
  ...more,
})

export const raise = (kind: ProblemKind, instance: string, detail: string): Raised =>
  new Raised(problem(kind, detail, { instance }))

export const usedUp = (kind: ProblemKind, instance: string, detail: string): Raised =>
  new Raised(problem(kind, detail, { instance }), true)

/** Is this the error that a `catch` means? What the filter does not name may be anything. */
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

/** The DSL's own examples and conformance scenarios write its types in an older way too. */
const sameType = (one: string, other: string): boolean => known(one) === known(other)
const known = (type: string): string =>
  type.replace(/^https:\/\/serverlessworkflow\.io(\.io)?\/dsl\/errors\/types\//, TYPES)
