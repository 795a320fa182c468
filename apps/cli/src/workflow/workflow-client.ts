import { readFile } from 'node:fs/promises'
import { request as askSecurely } from 'node:https'
import { rootCertificates } from 'node:tls'

import type { Options, OptionValues, CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'

export const accessOptions = {
  server: {
    type: 'string',
    value: 'URL',
    doc: 'URL of the workflow server (default: that of the profile, or https://127.0.0.1:8281)',
  },
  user: {
    type: 'string',
    value: 'USER@ORG',
    doc: 'user of the cloud (default: the user of the profile)',
  },
  'password-stdin': { type: 'boolean', doc: 'read the password from standard input' },
  ca: { type: 'string', value: 'FILE', doc: 'file of additional CA certificates to trust' },
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

/** Client of a workflow server: every error response is a Failure with the server's own message. */
export interface WorkflowClient {
  send(method: string, path: string, sent?: WorkflowSent): Promise<WorkflowReply>
  /** The response body as JSON; the caller names its type. */
  json(method: string, path: string, sent?: WorkflowSent): Promise<unknown>
}

const SERVER = 'https://127.0.0.1:8281'
const ANSWER_MS = 60_000
const LOOPBACK = /^(127\.|\[::1\]$|localhost$)/

type Asking = Pick<CliContext, 'workflows' | 'readInput' | 'readSecret' | 'cloud'>

/** URL and user come from the options, the environment or the profile of the cloud, in this order. */
export async function workflowClient(
  context: Asking,
  options: OptionValues<typeof accessOptions>,
): Promise<WorkflowClient> {
  const { workflows, cloud } = context
  const url = readUrl(options.server ?? workflows.server ?? serverIn(cloud))
  const user = options.user ?? workflows.user ?? cloud?.profile.user
  if (user === undefined || !user.includes('@')) {
    throw new Failure('refused', 'no user given', {
      hint: 'give --user USER@ORG and --password-stdin, or set SKERRY_WORKFLOW_USER and SKERRY_WORKFLOW_PASSWORD',
    })
  }
  const password = await passwordOf(context, user, options['password-stdin'] === true)
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

function serverIn(cloud: CliContext['cloud']): string {
  if (!cloud) return SERVER
  const { name, profile } = cloud
  if (profile.workflow !== undefined) return profile.workflow
  throw new Failure('refused', `profile ${name} has no workflow server`, {
    hint: `skerry login ${name} --workflow URL stores one; or give --server URL`,
  })
}

/** A profile stores no password and a workflow server accepts no token, so the user types the password. */
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
  // A password is sent in clear text only to this machine.
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new Failure('usage', `--server must be like https://workflow.example:8281, not ${text}`)
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
    method,
    timeout: ANSWER_MS,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    headers: { authorization, accept, ...length, ...headers },
  }
  // Loaded only if needed, as in packages/cloud-client.
  const ask = url.protocol === 'https:' ? askSecurely : (await import('node:http')).request
  const sent = ask(new URL(path, url), options, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('error', answer.reject)
    response.on('end', () => {
      const { statusCode: status = 0, headers: got } = response
      answer.resolve({ status, headers: got, bytes: Buffer.concat(parts) })
    })
  })
  sent.on('timeout', () => sent.destroy(new Error('timed out')))
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
        hint: trust
          ? 'give its CA certificate with --ca FILE'
          : 'check the URL and that the server is running',
      },
    )
  })
}

/** A Failure with the server's own message, if it sent one. */
function refusal({ status, bytes }: WorkflowReply): Failure {
  let body: Readonly<Record<string, unknown>> = {}
  try {
    body = JSON.parse(bytes.toString('utf8')) as Readonly<Record<string, unknown>>
  } catch {
    body = { status }
  }
  const { message, hint } = body
  return new Failure(
    'refused',
    typeof message === 'string' ? message : `the workflow server returned ${status}`,
    {
      body,
      hint: typeof hint === 'string' ? hint : undefined,
    },
  )
}
