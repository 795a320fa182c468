import { type Authentication, type CallHttpTask, isExpression } from '../dsl.ts'
import { problem, raise, Raised } from '../problem.ts'
import { whileCalling } from '../progress.ts'
import { type TaskRunner, evaluateOne, fill, type TaskContext } from '../scope.ts'
import type { HttpAnswer, HttpCall, Json } from '../verbs.ts'

/** Any response counts as a result; its status decides whether it is an error. */
export const callHttp: TaskRunner<CallHttpTask> = async ({ with: given }, here) => {
  const { running, place, scope, step, input } = here
  const { execution } = running.run
  const endpoint = typeof given.endpoint === 'string' ? { uri: given.endpoint } : given.endpoint
  const { headers = {}, query = {}, body } = given
  const requested = { headers, query, body: body ?? null, access: accessOf(endpoint, here) ?? null }
  const filled = (await fill(here, input, requested)) as unknown as EvaluatedRequest
  const uri = withQuery(await uriOf(endpoint.uri, here), filled.query, place)
  const call: HttpCall = {
    execution,
    key: `${execution}/${step}`,
    uri,
    headers: filled.headers,
    method: given.method.toUpperCase(),
    output: given.output === 'raw' ? 'raw' : 'content',
    ...(body !== undefined && { body: filled.body }),
    ...(filled.access !== null && { authentication: filled.access }),
  }
  const answer = await whileCalling(running, async () => running.runtime.callHttp(call, scope.stop))
  const { status } = answer
  if (status < 200 || status >= (given.redirect === true ? 400 : 300)) {
    const title = `${call.method} returned ${status}`
    throw new Raised(problem('communication', detailOf(answer), { status, title, instance: place }))
  }
  return { output: given.output === 'response' ? responseOf(call, answer) : answer.content }
}

interface EvaluatedRequest {
  readonly headers: Readonly<Record<string, Json>>
  readonly query: Readonly<Record<string, Json>>
  readonly body: Json
  readonly access: NonNullable<HttpCall['authentication']> | null
}

function accessOf(endpoint: { authentication?: unknown }, { running, place }: TaskContext) {
  const { authentication } = endpoint as { authentication?: Authentication | { use: string } }
  if (authentication === undefined || !('use' in authentication)) return authentication
  const found = running.use.authentications?.[authentication.use]
  if (found === undefined) {
    throw raise(
      'configuration',
      place,
      `no authentication ${authentication.use} in use.authentications`,
    )
  }
  return found
}

/** An expression, or a text with {names} of input values, which are percent-encoded. */
async function uriOf(uri: string, here: TaskContext & { input: Json }): Promise<string> {
  const wrapped: boolean = isExpression(uri)
  if (wrapped) {
    const value = await evaluateOne(here, here.input, uri)
    if (typeof value === 'string') return value
    throw raise('expression', here.place, 'the URI must be a text')
  }
  const values = here.input as Readonly<Record<string, Json>> | null
  return uri.replaceAll(/\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    const value = typeof values === 'object' && values !== null ? values[name] : undefined
    if (value === undefined || value === null || typeof value === 'object') {
      throw raise('expression', here.place, `the URI needs ${name}, which is missing in the input`)
    }
    return encodeURIComponent(value)
  })
}

function withQuery(uri: string, query: Readonly<Record<string, Json>>, place: string): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as Json[]) : [value]).map((each) => {
      if (typeof each === 'object' && each !== null) {
        throw raise(
          'expression',
          place,
          `the query parameter ${name} must be a text, a number or a boolean`,
        )
      }
      return `${encodeURIComponent(name)}=${encodeURIComponent(each ?? '')}`
    }),
  )
  if (pairs.length === 0) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}${pairs.join('&')}`
}

const MOST_DETAIL = 500
function detailOf({ content }: HttpAnswer): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return text.slice(0, MOST_DETAIL)
}

/** Leaves credentials out. */
function responseOf({ method, uri, headers }: HttpCall, answer: HttpAnswer): Json {
  const { status: statusCode, headers: answered, content } = answer
  const shown = Object.entries(headers).filter(([name]) => !/^(proxy-)?authorization$/i.test(name))
  const request = { method, uri, headers: Object.fromEntries(shown) }
  return { request, statusCode, headers: answered, content }
}
