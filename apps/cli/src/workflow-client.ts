import { readFile } from 'node:fs/promises'
import { request as askPlain } from 'node:http'
import { request as askSecurely } from 'node:https'

import type { Options, Values, World } from './command.ts'
import { Failure } from './failure.ts'

/** Where a workflow server is, and who asks: from options, or from what main.ts was started with. */
export interface WorkflowAccess {
  readonly server: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** A file of certificates that are trusted beside those of this machine. */
  readonly ca: string | undefined
}

export const accessOptions = {
  server: {
    type: 'string',
    value: 'URL',
    doc: 'where it answers; as the profile says, or https://127.0.0.1:8281',
  },
  user: { type: 'string', value: 'USER@ORG', doc: 'who asks: a user of the cloud; the profile’s' },
  'password-stdin': { type: 'boolean', doc: 'read the password from standard input' },
  ca: { type: 'string', value: 'FILE', doc: 'trust the certificates in this file too' },
} as const satisfies Options

export interface WorkflowReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

export interface WorkflowSent {
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A workflow server as its clients see it: every refusal is a Failure with the server's own words. */
export interface WorkflowClient {
  send(method: string, path: string, sent?: WorkflowSent): Promise<WorkflowReply>
  /** The answer as JSON; whoever asks names the shape. */
  json(method: string, path: string, sent?: WorkflowSent): Promise<unknown>
}

const SERVER = 'https://127.0.0.1:8281'
const ANSWER_MS = 60_000
const LOOPBACK = /^(127\.|\[::1\]$|localhost$)/

type Asking = Pick<World, 'workflows' | 'readInput' | 'readSecret' | 'cloud'>

/** Where it is and who asks: as the line says, or the environment, or the profile of the cloud. */
export async function workflowClient(
  world: Asking,
  options: Values<typeof accessOptions>,
): Promise<WorkflowClient> {
  const { workflows, cloud } = world
  const url = readUrl(options.server ?? workflows.server ?? serverIn(cloud))
  const user = options.user ?? workflows.user ?? cloud?.profile.user
  if (user === undefined || !user.includes('@')) {
    throw new Failure('refused', 'it is not said who asks', {
      hint: 'give --user USER@ORG and --password-stdin, or set SKERRY_WORKFLOW_USER and SKERRY_WORKFLOW_PASSWORD',
    })
  }
  const password = await passwordOf(world, user, options['password-stdin'] === true)
  const ca = (await readTrusted(options.ca ?? workflows.ca)) ?? cloud?.profile.ca
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const send: WorkflowClient['send'] = async (method, path, sent = {}) => {
    const reply = await reach(url, { method, path, ca, authorization }, sent)
    if (reply.status < 400) return reply
    throw refusal(reply)
  }
  return {
    send,
    async json(method, path, sent = {}) {
      const { bytes } = await send(method, path, { accept: 'application/json', ...sent })
      return bytes.length === 0 ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown)
    },
  }
}

function serverIn(cloud: World['cloud']): string {
  if (!cloud) return SERVER
  const { name, profile } = cloud
  if (profile.workflow !== undefined) return profile.workflow
  throw new Failure('refused', `the profile ${name} does not say where its workflow server is`, {
    hint: `skerry login ${name} --workflow URL keeps it there; or give --server URL`,
  })
}

/** A profile keeps no password, and a workflow server takes no token: somebody types it. */
async function passwordOf(
  { workflows, readInput, readSecret, cloud }: Asking,
  user: string,
  fromInput: boolean,
): Promise<string> {
  if (fromInput) return (await readInput()).split(/\r?\n/)[0] ?? ''
  if (workflows.password !== undefined) return workflows.password
  return cloud ? readSecret(`password of ${user}: `) : ''
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:') return url
  // A password goes in clear text nowhere but inside of this machine.
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new Failure('usage', `--server must be such as https://workflow.example:8281, not ${text}`)
}

async function readTrusted(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Failure('refused', `${file} cannot be read`, { cause })
  })
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly ca: string | undefined
  readonly authorization: string
}

async function reach(
  url: URL,
  { method, path, ca, authorization }: Asked,
  { accept = 'application/json', headers = {}, body }: WorkflowSent,
): Promise<WorkflowReply> {
  const answer = Promise.withResolvers<WorkflowReply>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = {
    ...{ method, timeout: ANSWER_MS, ...(ca !== undefined && { ca }) },
    headers: { authorization, accept, ...length, ...headers },
  }
  const ask = url.protocol === 'https:' ? askSecurely : askPlain
  const sent = ask(new URL(path, url), options, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('error', answer.reject)
    response.on('end', () => {
      const { statusCode: status = 0, headers: got } = response
      answer.resolve({ status, headers: got, bytes: Buffer.concat(parts) })
    })
  })
  sent.on('timeout', () => sent.destroy(new Error('it does not answer')))
  sent.on('error', answer.reject)
  sent.end(body)
  return answer.promise.catch((cause: unknown) => {
    const said = cause instanceof Error ? cause.message : String(cause)
    const trust = /certificate|self.signed|altnames/i.test(said)
    throw new Failure(
      'unreachable',
      `the workflow server at ${url.origin} cannot be reached: ${said}`,
      {
        cause,
        hint: trust ? 'give the certificate of its issuer by --ca FILE' : 'is it started there?',
      },
    )
  })
}

/** In the server's own words, whichever it has. */
function refusal({ status, bytes }: WorkflowReply): Failure {
  let body: Readonly<Record<string, unknown>> = {}
  try {
    body = JSON.parse(bytes.toString('utf8')) as Readonly<Record<string, unknown>>
  } catch {
    body = { status }
  }
  const { message, hint } = body
  return new Failure('refused', typeof message === 'string' ? message : `it answered ${status}`, {
    ...{ body, hint: typeof hint === 'string' ? hint : undefined },
  })
}
