import { isExpression } from '../definition/expression.ts'
import { DEFINITION_LIMITS } from '../definition/limits.ts'
import { isMapping } from '../definition/schema-words.ts'
import { INTERACTION_EVENT } from '../definition/task.ts'
import {
  data,
  dataMapping,
  duration,
  expression,
  flag,
  jsonSchema,
  nameOr,
  oneOf,
  shape,
  text,
  variable,
  wholeNumber,
  type LintRule,
} from './linter.ts'
import { refusal } from './refused.ts'

/** A full URL, a URL with {names} in it, or an expression. */
const address: LintRule = (linter, value, at) => {
  if (isExpression(value)) return expression(linter, value, at)
  text(DEFINITION_LIMITS.addressLength, 1)(linter, value, at)
  if (typeof value !== 'string') return undefined
  if (!/^https?:\/\//i.test(value)) linter.report(at, 'expected a URL with http:// or https://')
  else if (/^https?:\/\/[^/?#]*@/i.test(value))
    linter.report(at, refusal('a password in the definition'))
  return undefined
}

/** A literal would be part of the export; an expression can read a sealed input. */
const secret: LintRule = (linter, value, at) => {
  if (isExpression(value)) expression(linter, value, at)
  else linter.report(at, refusal('a password in the definition'))
}
const plainOrExpression: LintRule = (linter, value, at) => {
  text(DEFINITION_LIMITS.expressionLength)(linter, value, at)
  data(linter, value, at)
}
const byReference = { use: refusal('use secrets') }

/** Basic or bearer, with secrets as expressions. */
export const authentication: LintRule = shape({
  what: 'authentication',
  rules: {
    basic: shape({
      what: 'basic authentication',
      rules: { username: plainOrExpression, password: secret },
      required: ['username', 'password'],
      refused: byReference,
    }),
    bearer: shape({
      what: 'bearer authentication',
      rules: { token: secret },
      required: ['token'],
      refused: byReference,
    }),
  },
  refused: {
    digest: refusal('authentication digest'),
    oauth2: refusal('authentication oauth2'),
    oidc: refusal('authentication oidc'),
  },
})

const usedOrInline: LintRule = (linter, value, at) => {
  if (isMapping(value) && 'use' in value)
    shape({
      what: 'authentication',
      rules: { use: nameOr('authentications', text(0)) },
    })(linter, value, at)
  else authentication(linter, value, at)
}

const secretHeaders = /^(authorization|proxy-authorization|cookie|x-api-key|x-auth-token|api-key)$/i
const headers: LintRule = (linter, value, at) => {
  dataMapping(linter, value, at)
  if (!isMapping(value)) return
  for (const [name, each] of Object.entries(value)) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) linter.report(at, 'invalid header name')
    else if (secretHeaders.test(name) && !isExpression(each))
      linter.report(`${at}/${name}`, refusal('a password in the definition'))
  }
}

export const httpArguments: LintRule = shape({
  what: 'call http',
  rules: {
    method: oneOf(
      ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) => [
        method,
        method.toLowerCase(),
      ]),
    ),
    endpoint: (linter, value, at) => {
      if (isMapping(value)) endpoint(linter, value, at)
      else address(linter, value, at)
    },
    headers,
    body: data,
    query: dataMapping,
    output: oneOf('raw', 'content', 'response'),
    redirect: flag,
  },
  required: ['method', 'endpoint'],
})
const endpoint: LintRule = shape({
  what: 'endpoint',
  rules: { uri: address, authentication: usedOrInline },
  required: ['uri'],
})

/** An RFC 7807 error; each text may be an expression. */
export const raisedError: LintRule = shape({
  what: 'error',
  rules: {
    type: plainOrExpression,
    status: wholeNumber(100, 599),
    title: plainOrExpression,
    detail: plainOrExpression,
    instance: plainOrExpression,
  },
  required: ['type', 'status'],
})

const empty: LintRule = shape({ what: 'backoff', rules: {} })
export const retry: LintRule = shape({
  what: 'retry',
  rules: {
    when: expression,
    exceptWhen: expression,
    delay: duration,
    backoff: (linter, value, at) => {
      shape({ what: 'backoff', rules: { constant: empty, linear: empty, exponential: empty } })(
        linter,
        value,
        at,
      )
      if (isMapping(value) && Object.keys(value).length !== 1)
        linter.report(at, 'expected one of constant, linear, exponential')
    },
    limit: shape({
      what: 'limit',
      rules: {
        attempt: shape({
          what: 'attempt',
          rules: { count: wholeNumber(0, 1000), duration },
        }),
        duration,
      },
    }),
    jitter: shape({
      what: 'jitter',
      rules: { from: duration, to: duration },
      required: ['from', 'to'],
    }),
  },
})

export const loop: LintRule = shape({
  what: 'for',
  rules: { each: variable, in: expression, at: variable },
  required: ['in'],
})

const literal: LintRule = (linter, value, at) => {
  text(256, 1)(linter, value, at)
  if (isExpression(value))
    linter.report(
      at,
      'expected a literal, not an expression: senders must know what the run waits for',
    )
}
const filter: LintRule = shape({
  what: 'an event',
  rules: {
    with: shape({
      what: 'an event',
      rules: { type: literal, source: literal, subject: literal, id: literal, data: expression },
      required: ['type'],
    }),
  },
  required: ['with'],
  refused: { correlate: refusal('correlate') },
})
const filters: LintRule = (linter, value, at) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > 100)
    linter.report(at, 'expected a list of 1 to 100 events')
  else for (const [index, each] of value.entries()) filter(linter, each, `${at}/${index}`)
}

export const listen: LintRule = shape({
  what: 'listen',
  rules: {
    to: (linter, value, at) => {
      shape({
        what: 'listen to',
        rules: { one: filter, any: filters, all: filters },
        refused: { until: refusal('listen until') },
      })(linter, value, at)
      if (isMapping(value) && Object.keys(value).length === 0)
        linter.report(at, 'expected one, any or all')
      if (isMapping(value) && Object.keys(value).length > 1 && !('until' in value))
        linter.report(at, 'expected only one of one, any, all')
    },
    read: oneOf('data', 'envelope', 'raw'),
  },
  required: ['to'],
})

/** A user interaction: the event and the form belong together. */
export const interaction: LintRule = (linter, value, at) => {
  if (!isMapping(value)) return
  const metadata = isMapping(value['metadata']) ? value['metadata'] : {}
  const asks = namesInteraction(value['listen'])
  const form = metadata['interaction']
  if (!asks && form !== undefined)
    linter.report(
      `${at}/metadata/interaction`,
      `only allowed on a listen task for one ${INTERACTION_EVENT}`,
    )
  if (!asks) return
  if (!listensOnlyToIt(value['listen']))
    linter.report(
      `${at}/listen`,
      `${INTERACTION_EVENT} must be the only event, under "one", with its type only: one user answers one question`,
    )
  if (form === undefined) linter.report(at, 'metadata.interaction with title and form is missing')
  else question(linter, form, `${at}/metadata/interaction`)
}

const namesInteraction = (value: unknown): boolean =>
  Object.values(isMapping(value) || Array.isArray(value) ? value : {}).some(
    (inner) => inner === INTERACTION_EVENT || namesInteraction(inner),
  )

function listensOnlyToIt(listen: unknown): boolean {
  let inner: unknown = isMapping(listen) ? listen['to'] : undefined
  for (const key of ['one', 'with', 'type']) {
    if (!isMapping(inner) || Object.keys(inner).join() !== key) return false
    inner = inner[key]
  }
  return inner === INTERACTION_EVENT
}

const question: LintRule = shape({
  what: 'interaction',
  rules: {
    title: plainOrExpression,
    text: plainOrExpression,
    form: (linter, value, at) => {
      jsonSchema(linter, value, at)
      if (isMapping(value) && value['type'] !== 'object')
        linter.report(
          at,
          'a form must be a schema with type: object; its properties are the fields',
        )
    },
    approver: oneOf('anyone', 'other'),
  },
  required: ['title', 'form'],
})

const subflow: LintRule = shape({
  what: 'run workflow',
  rules: { namespace: text(63, 1), name: text(63, 1), version: text(64, 1), input: dataMapping },
  required: ['namespace', 'name', 'version'],
})
export const run: LintRule = shape({
  what: 'run',
  rules: { workflow: subflow, await: flag },
  refused: Object.fromEntries(
    (['container', 'script', 'shell', 'return'] as const).map((key) => [
      key,
      refusal(`run ${key}`),
    ]),
  ),
})
