import { DEFINITION_LIMITS } from './limits.ts'
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
  type Look,
  type Rule,
  type Shape,
} from './look.ts'
import { refusal } from './refused.ts'
import { isMapping } from './schema-words.ts'
import {
  httpArguments,
  interaction,
  listen,
  loop,
  raisedError,
  retry,
  run,
} from './subset-parts.ts'
import { escapePointer } from './task.ts'
import { clip } from './text.ts'

/** Tasks in their order; `then` leads only to those beside it. */
export const taskList: Rule = (look, value, at) => {
  if (!Array.isArray(value)) {
    look.say(at, 'expected a list of tasks, each under its name')
    return
  }
  const neighbours = new Set(
    value.flatMap((item: unknown) => (isMapping(item) ? Object.keys(item) : [])),
  )
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    const place = `${at}/${index}`
    if (!isMapping(item) || Object.keys(item).length !== 1) {
      look.say(place, 'expected one task under its name')
      continue
    }
    for (const [name, task] of Object.entries(item)) {
      const own = `${place}/${escapePointer(name)}`
      const why =
        whyNotName(name) ?? (seen.has(name) ? 'a name that is in this list already' : undefined)
      if (why !== undefined) look.say(own, why)
      seen.add(name)
      checkTask(look, task, own, neighbours)
    }
  }
}

function whyNotName(name: string): string | undefined {
  if (name.length === 0 || name.length > DEFINITION_LIMITS.taskNameLength)
    return `a task's name has 1 to ${DEFINITION_LIMITS.taskNameLength} characters`
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name)) return 'a task’s name is made of visible characters'
  return flowWords.has(name)
    ? `"${name}" is a word of "then", so it can not name a task`
    : undefined
}
const flowWords = new Set(['continue', 'exit', 'end'])

/** What each task may have beside its own part; `then` needs to know the neighbours. */
function common(neighbours: ReadonlySet<string>): Readonly<Record<string, Rule>> {
  return {
    if: expression,
    input,
    output,
    export: exported,
    timeout,
    // oxlint-disable-next-line unicorn/no-thenable -- the DSL's word, in a table that nobody awaits.
    then: flow(neighbours),
    metadata: (look, value, at) => {
      if (!isMapping(value)) look.say(at, 'expected a mapping')
    },
  }
}

const flow =
  (neighbours: ReadonlySet<string>): Rule =>
  (look, value, at) => {
    if (typeof value !== 'string') look.say(at, 'expected continue, exit, end or a task’s name')
    else if (!flowWords.has(value) && !neighbours.has(value))
      look.say(at, `there is no task "${clip(value)}" in this list`)
  }

const cases =
  (neighbours: ReadonlySet<string>): Rule =>
  (look, value, at) => {
    if (!Array.isArray(value) || value.length === 0) {
      look.say(at, 'expected a list of cases')
      return
    }
    for (const [index, item] of value.entries()) {
      if (!isMapping(item) || Object.keys(item).length !== 1)
        look.say(`${at}/${index}`, 'expected one case under its name')
      else
        for (const [name, each] of Object.entries(item))
          shape({
            what: 'a case',
            // oxlint-disable-next-line unicorn/no-thenable -- as above.
            rules: { when: expression, then: flow(neighbours) },
            required: ['then'],
          })(look, each, `${at}/${index}/${escapePointer(name)}`)
    }
  }

const catching: Rule = shape({
  what: 'catch',
  rules: {
    errors: shape({
      what: 'errors',
      rules: {
        with: (look, value, at) => {
          shape({
            what: 'an error filter',
            rules: {
              type: literal,
              status: literal,
              instance: literal,
              title: literal,
              details: literal,
            },
          })(look, value, at)
        },
      },
    }),
    as: variable,
    when: expression,
    exceptWhen: expression,
    retry: nameOr('retries', retry),
    do: (look, value, at) => taskList(look, value, at),
  },
})
function literal(look: Look, value: unknown, at: string): void {
  if (typeof value !== 'string' && typeof value !== 'number') look.say(at, 'expected a text')
}

const calledFunction: Rule = (look, value, at) => {
  if (typeof value !== 'string') {
    look.say(at, 'expected the name of a function')
    return
  }
  if (value === 'grpc' || value === 'openapi' || value === 'asyncapi')
    look.say(at, refusal(`call ${value}`))
  else if (/@|:\/\//.test(value)) look.say(at, refusal('a function of a catalog'))
  else if (
    value.startsWith('skerry.') ? look.functions.has(value) : look.names.functions.has(value)
  )
    return
  else if (value.startsWith('skerry.'))
    look.say(
      at,
      `there is no function ${clip(value)}; docs/reference/workflow-functions.md lists them`,
    )
  else look.say(at, `there is no "${clip(value)}" in use.functions`)
}

/** What each kind has of its own. */
const kinds: Readonly<Record<string, (neighbours: ReadonlySet<string>) => Omit<Shape, 'what'>>> = {
  do: () => ({ rules: { do: taskList } }),
  set: () => ({
    rules: {
      set: (look, value, at) => {
        if (typeof value === 'string' && look.dsl !== '1.0.0') expression(look, value, at)
        else dataMapping(look, value, at)
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
          compete: (look, value, at) => {
            if (typeof value !== 'boolean') look.say(at, 'expected true or false')
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

/** A task by itself: in a list, or a function of `use.functions`, which has no neighbours. */
export function checkTask(
  look: Look,
  value: unknown,
  at: string,
  neighbours: ReadonlySet<string>,
): void {
  look.tasks += 1
  if (look.tasks > DEFINITION_LIMITS.tasks) {
    if (look.tasks === DEFINITION_LIMITS.tasks + 1)
      look.say(at, `more than ${DEFINITION_LIMITS.tasks} tasks; make it several workflows`)
    return
  }
  if (!isMapping(value)) {
    look.say(at, 'expected a task: a mapping')
    return
  }
  if ('emit' in value) {
    look.say(`${at}/emit`, refusal('emit'))
    return
  }
  const found = Object.keys(kinds).filter((kind) => kind in value)
  const [kind = '', second] = found.filter((each) => !(each === 'do' && found.includes('for')))
  const known = kinds[kind]
  if (known === undefined) sayUnknown(look, value, at, common(neighbours))
  else if (second !== undefined)
    look.say(`${at}/${second}`, `a task is one thing: ${kind} or ${second}`)
  else {
    const own = kind === 'call' && value['call'] === 'http' ? http : known(neighbours)
    shape({ ...own, what: kind, rules: { ...own.rules, ...common(neighbours) } })(look, value, at)
    if (kind === 'listen') interaction(look, value, at)
  }
}

/** The word that was meant to be a task is named, at its own line. */
function sayUnknown(look: Look, task: object, at: string, beside: Shape['rules']): void {
  const word = Object.keys(task).find((key) => !Object.hasOwn(beside, key))
  const known = `a task has one of ${Object.keys(kinds).join(', ')}`
  if (word === undefined) look.say(at, `no task; ${known}`)
  else
    look.say(`${at}/${escapePointer(word)}`, `"${clip(word)}" is no task that is known; ${known}`)
}

const http: Omit<Shape, 'what'> = {
  rules: { call: () => {}, with: httpArguments },
  required: ['with'],
}
