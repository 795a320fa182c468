import { DEFINITION_LIMITS } from '../definition/limits.ts'
import { isMapping } from '../definition/schema-words.ts'
import { escapePointer } from '../definition/task.ts'
import { clip } from '../definition/text.ts'
import {
  dataMapping,
  duration,
  expression,
  exported,
  input,
  nameOr,
  output,
  shape,
  timeout,
  variable,
  type Linter,
  type LintRule,
  type MappingShape,
} from './linter.ts'
import { refusal } from './refused.ts'
import {
  httpArguments,
  interaction,
  listen,
  loop,
  raisedError,
  retry,
  run,
} from './subset-parts.ts'

/** A list of tasks in order; `then` may only name tasks of the same list. */
export const taskList: LintRule = (linter, value, at) => {
  if (!Array.isArray(value)) {
    linter.report(at, 'expected a list of tasks, each under its name')
    return
  }
  const neighbours = new Set(
    value.flatMap((item: unknown) => (isMapping(item) ? Object.keys(item) : [])),
  )
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    const place = `${at}/${index}`
    if (!isMapping(item) || Object.keys(item).length !== 1) {
      linter.report(place, 'expected one task under its name')
      continue
    }
    for (const [name, task] of Object.entries(item)) {
      const own = `${place}/${escapePointer(name)}`
      const why =
        whyNotName(name) ?? (seen.has(name) ? 'duplicate task name in this list' : undefined)
      if (why !== undefined) linter.report(own, why)
      seen.add(name)
      checkTask(linter, task, own, neighbours)
    }
  }
}

function whyNotName(name: string): string | undefined {
  if (name.length === 0 || name.length > DEFINITION_LIMITS.taskNameLength)
    return `a task name must have 1 to ${DEFINITION_LIMITS.taskNameLength} characters`
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name))
    return 'a task name must not contain control characters'
  return flowWords.has(name)
    ? `"${name}" is reserved for "then" and cannot be a task name`
    : undefined
}
const flowWords = new Set(['continue', 'exit', 'end'])

/** The keys that every task may have. `then` needs the names of the tasks in the same list. */
function commonKeys(neighbours: ReadonlySet<string>): Readonly<Record<string, LintRule>> {
  return {
    if: expression,
    input,
    output,
    export: exported,
    timeout,
    // oxlint-disable-next-line unicorn/no-thenable -- the DSL's keyword, in a table that is never awaited.
    then: flow(neighbours),
    metadata: (linter, value, at) => {
      if (!isMapping(value)) linter.report(at, 'expected a mapping')
    },
  }
}

const flow =
  (neighbours: ReadonlySet<string>): LintRule =>
  (linter, value, at) => {
    if (typeof value !== 'string') linter.report(at, 'expected continue, exit, end or a task name')
    else if (!flowWords.has(value) && !neighbours.has(value))
      linter.report(at, `no task "${clip(value)}" in this list`)
  }

const cases =
  (neighbours: ReadonlySet<string>): LintRule =>
  (linter, value, at) => {
    if (!Array.isArray(value) || value.length === 0) {
      linter.report(at, 'expected a list of cases')
      return
    }
    for (const [index, item] of value.entries()) {
      if (!isMapping(item) || Object.keys(item).length !== 1)
        linter.report(`${at}/${index}`, 'expected one case under its name')
      else
        for (const [name, each] of Object.entries(item))
          shape({
            what: 'a case',
            // oxlint-disable-next-line unicorn/no-thenable -- as above.
            rules: { when: expression, then: flow(neighbours) },
            required: ['then'],
          })(linter, each, `${at}/${index}/${escapePointer(name)}`)
    }
  }

const catching: LintRule = shape({
  what: 'catch',
  rules: {
    errors: shape({
      what: 'errors',
      rules: {
        with: (linter, value, at) => {
          shape({
            what: 'an error filter',
            rules: {
              type: literal,
              status: literal,
              instance: literal,
              title: literal,
              details: literal,
            },
          })(linter, value, at)
        },
      },
    }),
    as: variable,
    when: expression,
    exceptWhen: expression,
    retry: nameOr('retries', retry),
    do: (linter, value, at) => taskList(linter, value, at),
  },
})
function literal(linter: Linter, value: unknown, at: string): void {
  if (typeof value !== 'string' && typeof value !== 'number') linter.report(at, 'expected a text')
}

const calledFunction: LintRule = (linter, value, at) => {
  if (typeof value !== 'string') {
    linter.report(at, 'expected the name of a function')
    return
  }
  if (value === 'grpc' || value === 'openapi' || value === 'asyncapi')
    linter.report(at, refusal(`call ${value}`))
  else if (/@|:\/\//.test(value)) linter.report(at, refusal('a function of a catalog'))
  else if (
    value.startsWith('skerry.') ? linter.functions.has(value) : linter.names.functions.has(value)
  )
    return
  else if (value.startsWith('skerry.'))
    linter.report(at, `unknown function ${clip(value)}; see docs/reference/workflow-functions.md`)
  else linter.report(at, `"${clip(value)}" is not defined in use.functions`)
}

/** The keys of each task kind. */
const kinds: Readonly<
  Record<string, (neighbours: ReadonlySet<string>) => Omit<MappingShape, 'what'>>
> = {
  do: () => ({ rules: { do: taskList } }),
  set: () => ({
    rules: {
      set: (linter, value, at) => {
        if (typeof value === 'string' && linter.dsl !== '1.0.0') expression(linter, value, at)
        else dataMapping(linter, value, at)
      },
    },
  }),
  switch: (neighbours) => ({ rules: { switch: cases(neighbours) } }),
  for: () => ({ rules: { for: loop, while: expression, do: taskList }, required: ['do'] }),
  fork: () => ({
    rules: {
      fork: shape({
        what: 'fork',
        rules: {
          branches: taskList,
          compete: (linter, value, at) => {
            if (typeof value !== 'boolean') linter.report(at, 'expected true or false')
          },
        },
        required: ['branches'],
      }),
    },
  }),
  try: () => ({ rules: { try: taskList, catch: catching }, required: ['catch'] }),
  wait: () => ({ rules: { wait: duration } }),
  listen: () => ({ rules: { listen }, refused: { foreach: refusal('listen foreach') } }),
  raise: () => ({
    rules: {
      raise: shape({
        what: 'raise',
        rules: { error: nameOr('errors', raisedError) },
        required: ['error'],
      }),
    },
  }),
  run: () => ({ rules: { run } }),
  call: () => ({ rules: { call: calledFunction, with: dataMapping } }),
}

/** Checks one task: in a list, or in `use.functions`, where it has no neighbours. */
export function checkTask(
  linter: Linter,
  value: unknown,
  at: string,
  neighbours: ReadonlySet<string>,
): void {
  linter.tasks += 1
  if (linter.tasks > DEFINITION_LIMITS.tasks) {
    if (linter.tasks === DEFINITION_LIMITS.tasks + 1)
      linter.report(
        at,
        `more than ${DEFINITION_LIMITS.tasks} tasks; split it into several workflows`,
      )
    return
  }
  if (!isMapping(value)) {
    linter.report(at, 'expected a task (a mapping)')
    return
  }
  if ('emit' in value) {
    linter.report(`${at}/emit`, refusal('emit'))
    return
  }
  const found = Object.keys(kinds).filter((kind) => kind in value)
  const [kind = '', second] = found.filter((each) => !(each === 'do' && found.includes('for')))
  const known = kinds[kind]
  if (known === undefined) sayUnknown(linter, value, at, commonKeys(neighbours))
  else if (second !== undefined)
    linter.report(`${at}/${second}`, `a task must have one kind, not both ${kind} and ${second}`)
  else {
    const own = kind === 'call' && value['call'] === 'http' ? http : known(neighbours)
    shape({ ...own, what: kind, rules: { ...own.rules, ...commonKeys(neighbours) } })(
      linter,
      value,
      at,
    )
    if (kind === 'listen') interaction(linter, value, at)
  }
}

/** Reports the key that was probably meant as the task kind, at its own line. */
function sayUnknown(linter: Linter, task: object, at: string, beside: MappingShape['rules']): void {
  const word = Object.keys(task).find((key) => !Object.hasOwn(beside, key))
  const known = `a task has one of ${Object.keys(kinds).join(', ')}`
  if (word === undefined) linter.report(at, `not a task; ${known}`)
  else
    linter.report(`${at}/${escapePointer(word)}`, `"${clip(word)}" is not a known task; ${known}`)
}

const http: Omit<MappingShape, 'what'> = {
  rules: { call: () => {}, with: httpArguments },
  required: ['with'],
}
