// curl on a lab host, and its response, for tests that do not import our code.
import assert from 'node:assert/strict'

import type { LabHost } from '@skerry/lab'

export const BASE = 'http://127.0.0.1:8080'

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly body: unknown
}

/** No server listened, or it died before the response. */
export class NoAnswer extends Error {}

export interface Curl {
  /** curl with exactly these arguments. */
  readonly curl: (...words: readonly string[]) => Promise<Answer>
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, body?: unknown) => Promise<Answer>
  /** A string is sent as it is, anything else as JSON. */
  readonly patch: (path: string, body: unknown) => Promise<Answer>
  readonly remove: (path: string) => Promise<Answer>
}

/** The host is looked up at each call: it may be started later. */
export function curlOn(host: () => LabHost): Curl {
  async function curl(...words: readonly string[]): Promise<Answer> {
    const mark = '\n%{http_code} %{content_type}'
    const all = ['curl', '-sS', '-m', '120', '-w', mark, ...words]
    const { stdout, stderr } = await host().run(all)
    const end = stdout.lastIndexOf('\n')
    const [code = '', ...type] = stdout.slice(end + 1).split(' ')
    const text = stdout.slice(0, end)
    if (code === '000') throw new NoAnswer(stderr)
    const isJson = type.join(' ').startsWith('application/json') && text !== ''
    return {
      status: Number(code),
      type: type.join(' '),
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
  const written = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))
  return {
    curl,
    get: (path) => curl(`${BASE}${path}`),
    post: (path, body) =>
      body === undefined
        ? curl('-X', 'POST', `${BASE}${path}`)
        : curl('-d', written(body), `${BASE}${path}`),
    patch: (path, body) => curl('-X', 'PATCH', '-d', written(body), `${BASE}${path}`),
    remove: (path) => curl('-X', 'DELETE', `${BASE}${path}`),
  }
}

export function assertSaid(answer: Answer, status: number, message: string | RegExp): void {
  const body = answer.body as { code?: number; message?: string } | undefined
  assert.equal(answer.status, status, answer.text)
  assert.equal(body?.code, status)
  if (typeof message === 'string') assert.equal(body?.message, message)
  else assert.match(body?.message ?? '', message)
}

export function refused(answer: Answer, status: number, message: RegExp): void {
  assertSaid(answer, status, message)
  assert.match(answer.type, /^application\/json; charset=utf-8$/)
}
