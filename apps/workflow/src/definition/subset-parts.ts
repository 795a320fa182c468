import { isExpression } from './expression.ts'
import { DEFINITION_LIMITS } from './limits.ts'
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
  type Rule,
} from './look.ts'
import { refusal } from './refused.ts'
import { isMapping } from './schema-words.ts'
import { INTERACTION_EVENT } from './task.ts'

/** A whole address, an address with {names} in it, or an expression. */
const address: Rule = (look, value, at) => {
  if (isExpression(value)) return expression(look, value, at)
  text(DEFINITION_LIMITS.addressLength, 1)(look, value, at)
  if (typeof value !== 'string') return undefined
  if (!/^https?:\/\//i.test(value)) look.say(at, 'expected an address with http:// or https://')
  else if (/^https?:\/\/[^/?#]*@/i.test(value))
    look.say(at, refusal('a password in the definition'))
  return undefined
}

/** Words would stand in the export; an expression leads to an input that is kept sealed. */
const secret: Rule = (look, value, at) => {
  if (isExpression(value)) expression(look, value, at)
  else look.say(at, refusal('a password in the definition'))
}
const plainOrExpression: Rule = (look, value, at) => {
  text(DEFINITION_LIMITS.expressionLength)(look, value, at)
  data(look, value, at)
}
const byReference = { use: refusal('use secrets') }

/** Basic or bearer, by expressions. */
export const authentication: Rule = shape({
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

const usedOrInline: Rule = (look, value, at) => {
  if (isMapping(value) && 'use' in value)
    shape({
      what: 'authentication',
      rules: { use: nameOr('authentications', text(0)) },
    })(look, value, at)
  else authentication(look, value, at)
}

const telling = /^(authorization|proxy-authorization|cookie|x-api-key|x-auth-token|api-key)$/i
const headers: Rule = (look, value, at) => {
  dataMapping(look, value, at)
  if (!isMapping(value)) return
  for (const [name, each] of Object.entries(value)) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name))
      look.say(at, 'a header whose name is none')
    else if (telling.test(name) && !isExpression(each))
      look.say(`${at}/${name}`, refusal('a password in the definition'))
  }
}

export const httpArguments: Rule = shape({
  what: 'call http',
  rules: {
    method: oneOf(
      ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) => [
        method,
        method.toLowerCase(),
      ]),
    ),
    endpoint: (look, value, at) => {
      if (isMapping(value)) endpoint(look, value, at)
      else address(look, value, at)
    },
    headers,
    body: data,
    query: dataMapping,
    output: oneOf('raw', 'content', 'response'),
    redirect: flag,
  },
  required: ['method', 'endpoint'],
})
const endpoint: Rule = shape({
  what: 'endpoint',
  rules: { uri: address, authentication: usedOrInline },
  required: ['uri'],
})

/** RFC 7807, each text perhaps an expression. */
export const raisedError: Rule = shape({
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

const empty: Rule = shape({ what: 'backoff', rules: {} })
export const retry: Rule = shape({
  what: 'retry',
  rules: {
    when: expression,
    exceptWhen: expression,
    delay: duration,
    backoff: (look, value, at) => {
      shape({ what: 'backoff', rules: { constant: empty, linear: empty, exponential: empty } })(
        look,
        value,
        at,
      )
      if (isMapping(value) && Object.keys(value).length !== 1)
        look.say(at, 'expected one of constant, linear, exponential')
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

export const loop: Rule = shape({
  what: 'for',
  rules: { each: variable, in: expression, at: variable },
  required: ['in'],
})

const literal: Rule = (look, value, at) => {
  text(256, 1)(look, value, at)
  if (isExpression(value))
    look.say(at, 'a word is expected, no expression: senders must know what is waited for')
}
const filter: Rule = shape({
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
const filters: Rule = (look, value, at) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > 100)
    look.say(at, 'expected a list of 1 to 100 events')
  else for (const [index, each] of value.entries()) filter(look, each, `${at}/${index}`)
}

export const listen: Rule = shape({
  what: 'listen',
  rules: {
    to: (look, value, at) => {
      shape({
        what: 'listen to',
        rules: { one: filter, any: filters, all: filters },
        refused: { until: refusal('listen until') },
      })(look, value, at)
      if (isMapping(value) && Object.keys(value).length === 0)
        look.say(at, 'expected one, any or all')
      if (isMapping(value) && Object.keys(value).length > 1 && !('until' in value))
        look.say(at, 'expected only one of one, any, all')
    },
    read: oneOf('data', 'envelope', 'raw'),
  },
  required: ['to'],
})

/** A question to a person: the event and the form belong together. */
export const interaction: Rule = (look, value, at) => {
  if (!isMapping(value)) return
  const metadata = isMapping(value['metadata']) ? value['metadata'] : {}
  const asks = namesInteraction(value['listen'])
  const form = metadata['interaction']
  if (!asks && form !== undefined)
    look.say(`${at}/metadata/interaction`, `it goes with listening to one ${INTERACTION_EVENT}`)
  if (!asks) return
  if (!listensOnlyToIt(value['listen']))
    look.say(
      `${at}/listen`,
      `${INTERACTION_EVENT} is listened to as "one", alone, by its type: one person answers one question`,
    )
  if (form === undefined) look.say(at, 'metadata.interaction with title and form is missing')
  else question(look, form, `${at}/metadata/interaction`)
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

const question: Rule = shape({
  what: 'interaction',
  rules: {
    title: plainOrExpression,
    text: plainOrExpression,
    form: (look, value, at) => {
      jsonSchema(look, value, at)
      if (isMapping(value) && value['type'] !== 'object')
        look.say(at, 'a form is a schema of type: object, whose properties are its fields')
    },
  },
  required: ['title', 'form'],
})

const subflow: Rule = shape({
  what: 'run workflow',
  rules: { namespace: text(63, 1), name: text(63, 1), version: text(64, 1), input: dataMapping },
  required: ['namespace', 'name', 'version'],
})
export const run: Rule = shape({
  what: 'run',
  rules: { workflow: subflow, await: flag },
  refused: Object.fromEntries(
    (['container', 'script', 'shell', 'return'] as const).map((key) => [
      key,
      refusal(`run ${key}`),
    ]),
  ),
})
