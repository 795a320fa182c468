import { createHash, X509Certificate } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { makeDirectory, PASSABLE_DIRECTORY } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { readText, reviveFault, whoIsPeer } from '@skerry/host-api'
import { makeRequest, publicKeyOf } from '@skerry/service'

import {
  keepIssued,
  nextKey,
  readIfThere,
  requireOurs,
  settleCertificate,
  type IssuedCertificate,
} from './certificate.ts'
import { lookAtCloud, type VerifiedCloud } from './look-at-cloud.ts'
import { membershipFiles, readMembership } from './membership.ts'

export interface Invitation {
  /** URLs of cells for machines; tried in this order. */
  readonly cells: readonly URL[]
  readonly token: string
  /** SHA-256 of the control issuer's certificate, in hexadecimal. */
  readonly fingerprint: string
}

export interface Newcomer {
  /** The directory of the membership files. */
  readonly directory: string
  readonly name: string
  /** The address of its host API. Default: the local address of the connection to the cell. */
  readonly address: string | undefined
  readonly port: number
}

export interface Joined {
  readonly cloud: string
  readonly host: string
  readonly again: boolean
}

const ANSWER_MS = 30_000

/**
 * Makes this machine a host of the cloud that invited it. It may be repeated: the same invitation is
 * used with the same key until there is a certificate, and then it is known to be used.
 */
export async function joinCloud(invitation: Invitation, machine: Newcomer): Promise<Joined> {
  const { directory } = machine
  await requireWritable(directory)
  await settleCertificate(directory)
  const before = await readMembership(directory)
  const joinedFile = join(directory, membershipFiles.joined)
  const kept = await readIfThere(joinedFile)
  const isKept = (key: string) => kept === useOf(invitation, key)
  if (before && isKept(before.identity.key)) {
    return { cloud: before.cloud, host: before.host, again: true }
  }
  const { url, seen } = await firstThatAnswers(invitation)
  if (before && before.cloud !== seen.cloud) {
    throw new Fault('conflict', `this machine is a host of the cloud ${before.cloud}`, {
      hint: `nothing was sent; the files of that cloud are in ${directory}`,
    })
  }
  const key = await nextKey(directory)
  // Before the request: if only the answer is lost, the next run still knows which key used the invitation.
  await writeDurably(joinedFile, useOf(invitation, key))
  const answer = await requestCertificate(url, seen, {
    token: invitation.token,
    csr: await makeRequest(key),
    name: machine.name,
    address: machine.address ?? seen.from,
    port: machine.port,
    ...(before && { host: before.host }),
  })
  requireOurs(answer, key, { cloud: seen.cloud, host: answer.host })
  const cells = invitation.cells.map(({ hostname, port }) => ({
    address: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 443),
  }))
  await writeDurably(join(directory, membershipFiles.cells), `${JSON.stringify(cells)}\n`)
  await keepIssued(directory, answer)
  return { cloud: seen.cloud, host: answer.host, again: false }
}

/** An invitation must not be used up if its certificate cannot be stored. */
async function requireWritable(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, PASSABLE_DIRECTORY)
    await access(directory, constants.W_OK)
  } catch (cause) {
    throw new Fault('forbidden', `${directory} is not writable`, {
      cause,
      hint: 'nothing was sent; run the command as root',
    })
  }
}

/** Which key used which invitation. */
const useOf = ({ token }: Invitation, key: string): string => {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  return `${JSON.stringify({ token: hash(token), key: hash(publicKeyOf(key)) })}\n`
}

async function firstThatAnswers({
  cells,
  fingerprint,
}: Invitation): Promise<{ url: URL; seen: VerifiedCloud }> {
  let last: unknown = new Fault('invalid', 'no cell address given')
  for (const url of cells) {
    try {
      return { url, seen: await lookAtCloud(url, fingerprint) }
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
      last = error
    }
  }
  throw last
}

type JoinAnswer = IssuedCertificate & { readonly host: string }

/** Sends the first data, and only to a cell of the verified issuer. */
async function requestCertificate(
  url: URL,
  { issuer, cloud }: VerifiedCloud,
  body: unknown,
): Promise<JoinAnswer> {
  const text = JSON.stringify(body)
  const sent = request({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 443),
    method: 'POST',
    path: '/machine/v1/join',
    ca: issuer,
    minVersion: 'TLSv1.3',
    servername: '',
    agent: false,
    checkServerIdentity: (_host, shown) => whyNotCell(new X509Certificate(shown.raw), cloud),
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  const answered = Promise.withResolvers<IncomingMessage>()
  sent.once('response', answered.resolve)
  sent.once('error', answered.reject)
  sent.end(text)
  try {
    const response = await answered.promise
    const answer = await readText(response)
    if (response.statusCode !== 200) throw reviveFault(answer)
    return JSON.parse(answer) as JoinAnswer
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('unavailable', `the cell at ${url.host} did not answer`, {
      cause,
      hint: 'run the same command again: it reuses the invitation with the same key',
    })
  }
}

function whyNotCell(certificate: X509Certificate, wanted: string): Error | undefined {
  const { cloud, role } = whoIsPeer(certificate)
  if (cloud === wanted && role === 'cell') return undefined
  return new Fault('forbidden', 'this server is not a cell of the inviting cloud')
}
