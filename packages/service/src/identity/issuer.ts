import { createPublicKey, generateKeyPair, webcrypto, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'

import { Fault } from '@skerry/fault'

const generate = promisify(generateKeyPair)

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const
const REQUEST_BYTES_MAX = 8 * 1024

/** A certificate authority: its certificate and signing key. Both are PEM. */
export interface Issuer {
  readonly cert: string
  readonly key: string
}

export interface Span {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** The contents of a certificate. The serial is up to 20 random bytes, in hexadecimal. */
export interface NewCertificate extends Span {
  readonly serial: string
  /** PEM. */
  readonly publicKey: string
  /** Our own programs decide nothing by it; OVN's database takes the name of a host from it. */
  readonly subject: string
  readonly uris?: readonly string[]
  /** DNS names and addresses, for browsers. */
  readonly hosts?: readonly string[]
}

/** Loaded only when a certificate is issued or requested. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** A new private key: PEM, EC P-256. */
export async function makeKey(): Promise<string> {
  const { privateKey } = await generate('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return privateKey
}

/** The public half of a private key, PEM: the same text for the same key. */
export const publicKeyOf = (key: string): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' })

/** The SHA-256 of the whole certificate, in hexadecimal, for comparison by a user. */
export const fingerprintOf = (cert: string): string =>
  new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()

/** Creates a self-signed issuer for certificates of machines; it cannot sign other issuers. */
export async function makeIssuer({
  key,
  subject,
  ...rest
}: Omit<NewCertificate, 'publicKey' | 'uris' | 'hosts'> & {
  readonly key: string
}): Promise<Issuer> {
  const x509 = await loadX509()
  const publicKey = derOf(publicKeyOf(key))
  const { serial: serialNumber, notBefore, notAfter } = rest
  const made = await x509.X509CertificateGenerator.create({
    serialNumber,
    notBefore,
    notAfter,
    publicKey,
    signingAlgorithm: SIGNING,
    subject: nameOf(subject),
    issuer: nameOf(subject),
    signingKey: await signingKey(key),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  return { cert: pem(made.toString('pem')), key }
}

/** Issues a certificate for server and client authentication. PEM. */
export async function issueCertificate(
  issuer: Issuer,
  { publicKey, subject, uris = [], hosts = [], ...rest }: NewCertificate,
): Promise<string> {
  const x509 = await loadX509()
  const { serial: serialNumber, notBefore, notAfter } = rest
  const parent = new x509.X509Certificate(issuer.cert)
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage
  const made = await x509.X509CertificateGenerator.create({
    serialNumber,
    notBefore,
    notAfter,
    signingAlgorithm: SIGNING,
    publicKey: derOf(publicKey),
    subject: nameOf(subject),
    issuer: parent.subjectName,
    signingKey: await signingKey(issuer.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([serverAuth, clientAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...uris.map((value) => ({ type: 'url', value }) as const),
        ...hosts.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const),
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(parent.publicKey.rawData),
    ],
  })
  return pem(made.toString('pem'))
}

/** Creates a certificate request for this key, with proof of possession. It has no name: the issuer sets the name. PEM. */
export async function makeRequest(key: string): Promise<string> {
  const x509 = await loadX509()
  const publicKey = await importKey('spki', publicKeyOf(key))
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys: { privateKey: await signingKey(key), publicKey },
    signingAlgorithm: SIGNING,
  })
  return pem(request.toString('pem'))
}

/** Returns the public key of a request, PEM, after verifying possession of the private key. Names in the request are ignored. */
export async function readRequest(request: string): Promise<string> {
  const x509 = await loadX509()
  try {
    if (request.length > REQUEST_BYTES_MAX) throw new Error('it is too long')
    const read = new x509.Pkcs10CertificateRequest(request)
    const key = createPublicKey({
      key: Buffer.from(read.publicKey.rawData),
      format: 'der',
      type: 'spki',
    })
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new Error('its key is not EC P-256')
    if (!(await read.verify())) throw new Error('it is not signed by its own key')
    return key.export({ type: 'spki', format: 'pem' })
  } catch (cause) {
    throw new Fault('invalid', 'invalid certificate request', { cause })
  }
}

/** Whether this issuer signed the certificate. A trusted issuer may still not be valid for every role. */
export function isIssuedBy(cert: X509Certificate, issuer: string): boolean {
  const parent = new X509Certificate(issuer)
  return cert.checkIssued(parent) && cert.verify(parent.publicKey)
}

const nameOf = (subject: string) => [{ CN: [subject] }]
const pem = (text: string): string => `${text.trim()}\n`
const derOf = (text: string): ArrayBuffer => {
  const bytes = Buffer.from(text.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  return Uint8Array.from(bytes).buffer
}

const signingKey = (key: string) => importKey('pkcs8', key)

function importKey(format: 'pkcs8' | 'spki', text: string) {
  const use = format === 'pkcs8' ? 'sign' : 'verify'
  return webcrypto.subtle.importKey(format, derOf(text), ALGORITHM, true, [use])
}
