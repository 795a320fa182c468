import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'

import { Fault } from '@skerry/fault'
import { whoIsPeer } from '@skerry/host-api'
import { isIssuedBy } from '@skerry/service'

const LOOK_MS = 10_000

export interface Seen {
  readonly cloud: string
  /** The issuer that the fingerprint is of. PEM. */
  readonly issuer: string
  /** The address of this machine that leads there. */
  readonly from: string
}

/** Shakes hands and sends nothing: whoever is there must first show the issuer that the invitation names. */
export async function lookAtCloud(url: URL, fingerprint: string): Promise<Seen> {
  const socket = connect({
    ...{ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) },
    // Judged below, by the fingerprint: there is nothing else yet to judge by.
    ...{ rejectUnauthorized: false, minVersion: 'TLSv1.3', servername: '' },
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(LOOK_MS) })
    return { ...judge(socket, fingerprint), from: socket.localAddress ?? '' }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('unavailable', `no cell can be reached at ${url.host}`, {
      cause,
      hint: 'is the address right, and the cell running?',
    })
  } finally {
    socket.destroy()
  }
}

function judge(socket: TLSSocket, fingerprint: string): Omit<Seen, 'from'> {
  const shown = socket.getPeerCertificate(true)
  const issuer = [...chainOf(shown)].find(
    ({ raw }) => createHash('sha256').update(raw).digest('hex') === fingerprint.toLowerCase(),
  )
  if (!issuer) {
    throw new Fault('forbidden', 'the machine at this address is not of the cloud that invited', {
      hint: 'nothing was sent to it; compare the address and the fingerprint with the invitation',
    })
  }
  const pem = new X509Certificate(issuer.raw).toString()
  const leaf = new X509Certificate(shown.raw)
  const { cloud, role } = whoIsPeer(leaf)
  if (role === 'cell' && isIssuedBy(leaf, pem)) return { cloud, issuer: pem }
  throw new Fault('forbidden', 'the machine at this address is no cell of the cloud that invited')
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
