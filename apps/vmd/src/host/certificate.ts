import { X509Certificate } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { renameDurably, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { MachineLink, readText, reviveFault, whoIsPeer } from '@skerry/host-api'
import { makeKey, makeRequest, publicKeyOf } from '@skerry/service'

import { membershipFiles, type Membership } from './membership.ts'

export interface IssuedCertificate {
  readonly certificate: string
  /** Of the cloud's current servers that it is for. */
  readonly issuers: string
}

/** The key for the next certificate; the same one until a certificate is issued for it. */
export async function nextKey(directory: string): Promise<string> {
  const file = join(directory, membershipFiles.nextKey)
  const found = await readIfThere(file)
  if (found !== undefined) return found
  const key = await makeKey()
  await writeDurably(file, key)
  return key
}

/** Throws unless the certificate is for this key and this host of this cloud. */
export function requireOurs(
  { certificate, issuers }: IssuedCertificate,
  key: string,
  { cloud, host }: { readonly cloud: string; readonly host: string },
): void {
  try {
    const issued = new X509Certificate(certificate)
    const peer = whoIsPeer(issued)
    const isForUs = peer.role === 'host' && peer.cloud === cloud && peer.id === host
    if (!isForUs) throw new Error('it is for another machine')
    requireKey(issued, key)
    void new X509Certificate(issuers)
  } catch (cause) {
    throw new Fault('unavailable', 'the cell issued a certificate for another machine', {
      cause,
    })
  }
}

/** When this returns, a power cut leaves either the new key with the new certificate, or the old pair. */
export async function keepIssued(directory: string, issued: IssuedCertificate): Promise<void> {
  await writeDurably(join(directory, membershipFiles.ca), issued.issuers)
  await writeDurably(join(directory, membershipFiles.nextCert), issued.certificate)
  await settleCertificate(directory)
}

/** Completes an interrupted write or replacement: two files cannot be replaced atomically, so the certificate shows which key belongs to it. */
export async function settleCertificate(directory: string): Promise<void> {
  const at = (file: keyof typeof membershipFiles) => join(directory, membershipFiles[file])
  const next = await readIfThere(at('nextCert'))
  if (next === undefined) return
  const wanted = publicPem(new X509Certificate(next))
  const isFor = async (file: 'key' | 'nextKey') => {
    const key = await readIfThere(at(file))
    return key !== undefined && publicKeyOf(key) === wanted
  }
  if (await isFor('nextKey')) await renameDurably(at('nextKey'), at('key'))
  if (await isFor('key')) await renameDurably(at('nextCert'), at('cert'))
  else await rm(at('nextCert'), { force: true })
}

/** Gets a certificate for a new key of the same host, authenticated by the old one, from the first cell that answers. */
export async function renewMembership(directory: string, membership: Membership): Promise<void> {
  const key = await nextKey(directory)
  const body = { csr: await makeRequest(key) }
  const issued = await askCells(membership, '/machine/v1/renew', body, (answer) =>
    requireOurs(answer, key, membership),
  )
  await keepIssued(directory, issued)
}

/** The answer of the first cell that gives an acceptable one. */
export async function askCells(
  { identity, cells }: Membership,
  path: string,
  body: object,
  check: (issued: IssuedCertificate) => void,
): Promise<IssuedCertificate> {
  let last: unknown = new Fault('unavailable', 'no cell address is configured on this host')
  for (const cell of cells) {
    try {
      using link = new MachineLink(cell, identity, { role: 'cell' })
      const answer = await link.ask({ method: 'POST', path, body })
      const text = await readText(answer)
      if (answer.statusCode !== 200) throw reviveFault(text)
      const issued = JSON.parse(text) as IssuedCertificate
      check(issued)
      return issued
    } catch (error) {
      last = error
    }
  }
  throw last
}

/** Throws unless the certificate is for this key. */
export function requireKey(issued: X509Certificate, key: string): void {
  if (publicPem(issued) !== publicKeyOf(key)) throw new Error('it is for another key')
}

const publicPem = (certificate: X509Certificate): string =>
  certificate.publicKey.export({ type: 'spki', format: 'pem' })

export async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
