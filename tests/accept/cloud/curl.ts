// curl on this machine, as a client of the cloud: over TLS with the cloud's own CA, each response validated against the schema.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import type { Login } from '@skerry/lab'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

import { holdToSchema } from '../../../apps/cloud/test/held-to-schema.ts'
import { there } from './place.ts'

const run = promisify(execFile)

export interface Said {
  /** 'HTTP/1.1 200 OK' */
  readonly line: string
  readonly status: number
  /** As sent, in order. */
  readonly headers: readonly (readonly [string, string])[]
  readonly type: string
  readonly text: string
  /** Of a document; calling it for a response without a document is an error of the test. */
  readonly root: Element
}

export const headerOf = ({ headers }: Said, name: string): string | undefined =>
  headers.find(([each]) => each === name)?.[1]

/** curl with exactly these arguments after those for the CA; tokens are treated as secrets and not printed. */
export async function curl(...words: readonly string[]): Promise<Said> {
  const { stdout } = await run('curl', ['-sS', '-i', '--cacert', there().cloud.ca, ...words])
  const end = stdout.indexOf('\r\n\r\n')
  const [line = '', ...rest] = stdout.slice(0, end).split('\r\n')
  const headers = rest.map((each) => {
    const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(each) ?? []
    return [name, value] as const
  })
  const text = stdout.slice(end + 4)
  const status = Number(line.split(' ')[1])
  const type = headers.find(([name]) => name === 'content-type')?.[1]
  const accept = words.find((each) => each.startsWith('Accept: '))?.slice('Accept: '.length)
  const requested = words.filter((each) => /^([A-Z]+|https:.*)$/.test(each)).join(' ')
  holdToSchema({ requested, accept, status, type, text })
  return {
    line,
    status,
    headers,
    type: type ?? '',
    text,
    get root() {
      return readXml(text)
    },
  }
}

export const accept = (version: string): string => `Accept: application/*+xml;version=${version}`

export interface Caller {
  readonly token: string
  /** A request with the token and the version of this caller, and the arguments of curl before the address. */
  ask(method: string, where: string, ...words: readonly string[]): Promise<Said>
}

export const whole = (where: string, base = there().cloud.url): string =>
  where.startsWith('https:') ? where : `${base}${where}`

/** Logs in as the first operation of the specification; the token is in the response header. */
export function logInByCurl(login: Login, version: string, base?: string): Promise<Said> {
  const { user, org, password } = login
  const basic = ['-u', `${user}@${org}:${password}`]
  return curl('-X', 'POST', '-H', accept(version), ...basic, whole('/api/sessions', base))
}

export async function callerOf(login: Login, version: string): Promise<Caller> {
  const said = await logInByCurl(login, version)
  assert.equal(said.status, 200, said.text)
  const token = headerOf(said, 'x-cloud-authorization') ?? ''
  return {
    token,
    ask: (method, where, ...words) =>
      curl(
        '-X',
        method,
        '-H',
        accept(version),
        '-H',
        `x-cloud-authorization: ${token}`,
        ...words,
        whole(where),
      ),
  }
}

/** An Error whose codes match its response, in the requested version; returns its message. */
export function wordsOfError(said: Said, status: number, minor: string, version = '5.1'): string {
  assert.equal(said.status, status, said.text)
  assert.equal(said.type, `application/vnd.skerry.cloud.error+xml;version=${version}`)
  assert.equal(localName(said.root.name), 'Error')
  assert.equal(attribute(said.root, 'majorErrorCode'), String(status))
  assert.equal(attribute(said.root, 'minorErrorCode'), minor)
  const words = attribute(said.root, 'message') ?? ''
  assert.notEqual(words, '')
  return words
}
