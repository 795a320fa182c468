import { readFile } from 'node:fs/promises'

import {
  ANSWER_MS,
  basicHeader,
  isAccessToken,
  isSafe,
  NoAnswer,
  sendHttp,
  wholeBody,
} from '@skerry/cloud-client'
import type { Options, OptionValues } from '@skerry/command-line'

import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { parseBody, refusal } from '../vms/refusal.ts'

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
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
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
  const password = await passwordOf(context, {
    url,
    user,
    fromInput: options['password-stdin'] === true,
  })
  const ca = (await readTrusted(options.ca ?? workflows.ca)) ?? cloud?.profile.ca
  const authorization = basicHeader(user, password)
  const server = { name: 'the workflow server', url: url.origin, ca }
  const reach = async (method: string, path: string, sent: WorkflowSent) => {
    const { accept = 'application/json', headers, body } = sent
    const response = await sendHttp(server, {
      method,
      path,
      headers: { authorization, accept, ...headers },
      body,
      silenceMs: ANSWER_MS,
    })
    return { ...response, bytes: await wholeBody(response) }
  }
  const send: WorkflowClient['send'] = async (method, path, sent = {}) => {
    const reply = await reach(method, path, sent).catch((cause: unknown) => {
      throw unreachable(cause)
    })
    if (reply.status < 400) return reply
    throw refusal(server.name, reply.status, parseBody(reply.bytes))
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

interface Wanted {
  readonly url: URL
  readonly user: string
  readonly fromInput: boolean
}

/**
 * A profile stores an API token, which the workflow server of its cloud accepts as the password of its user. No other server receives
 * it. A profile with only a session has none, so the user types the password.
 */
async function passwordOf(
  { workflows, readInput, readSecret, cloud }: Asking,
  { url, user, fromInput }: Wanted,
): Promise<string> {
  if (fromInput) return (await readInput()).split(/\r?\n/)[0] ?? ''
  if (workflows.password !== undefined) return workflows.password
  if (!cloud) return ''
  const { profile } = cloud
  const isOwn =
    profile.workflow !== undefined &&
    readUrl(profile.workflow).origin === url.origin &&
    profile.user === user
  if (isOwn && isAccessToken(profile.token)) return profile.token
  return readSecret(`password of ${user}: `)
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url && isSafe(url)) return url
  throw new Failure('usage', `--server must be like https://workflow.example:8281, not ${text}`)
}

async function readTrusted(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Failure('refused', `${file} cannot be read`, { cause })
  })
}

/** The certificate may be of the cloud's own issuer, which this machine does not know yet. */
function unreachable(cause: unknown): unknown {
  if (!(cause instanceof NoAnswer)) return cause
  const hint =
    cause.detail === 'certificate'
      ? 'give its CA certificate with --ca FILE'
      : 'check the URL and that the server is running'
  return new Failure('unreachable', cause.message, { cause, hint })
}
