import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'
import { whoIsPeer } from '@skerry/host-api'
import { isIssuedBy } from '@skerry/service'

const LOOK_MS = 10_000

export interface VerifiedCloud {
  readonly cloud: string
  /** The issuer with the given fingerprint. PEM. */
  readonly issuer: string
  /** This machine's address on that connection. */
  readonly from: string
}

/** Performs a TLS handshake and sends nothing: the server must first show the issuer named in the invitation. */
export async function lookAtCloud(url: URL, fingerprint: string): Promise<VerifiedCloud> {
  const socket = connect({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 443),
    // Verified below by the fingerprint: there is no trust anchor yet.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    servername: '',
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(LOOK_MS) })
    return { ...verifyIssuer(socket, fingerprint), from: socket.localAddress ?? '' }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('unavailable', `no cell reachable at ${url.host}`, {
      cause,
      hint: 'check the address, and that the cell runs',
    })
  } finally {
    socket.destroy()
  }
}

function verifyIssuer(socket: TLSSocket, fingerprint: string): Omit<VerifiedCloud, 'from'> {
  const shown = socket.getPeerCertificate(true)
  const issuer = [...chainOf(shown)].find(
    ({ raw }) => createHash('sha256').update(raw).digest('hex') === fingerprint.toLowerCase(),
  )
  if (!issuer) {
    throw new Fault(
      'forbidden',
      'the server at this address does not belong to the inviting cloud',
      {
        hint: 'nothing was sent to it; compare the address and the fingerprint with the invitation',
      },
    )
  }
  const pem = new X509Certificate(issuer.raw).toString()
  const leaf = new X509Certificate(shown.raw)
  const { cloud, role } = whoIsPeer(leaf)
  if (role === 'cell' && isIssuedBy(leaf, pem)) return { cloud, issuer: pem }
  throw new Fault('forbidden', 'the server at this address is not a cell of the inviting cloud')
}

function* chainOf(first: DetailedPeerCertificate): Generator<DetailedPeerCertificate> {
  const seen = new Set<string>()
  for (
    let each: DetailedPeerCertificate | undefined = first;
    each?.raw && !seen.has(each.fingerprint256);
    each = each.issuerCertificate
  ) {
    seen.add(each.fingerprint256)
    yield each
  }
}
