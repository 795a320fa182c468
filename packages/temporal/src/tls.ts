// TLS settings for Temporal: the client certificate, and the expected server.
import { readFileSync } from 'node:fs'

import type { TLSConfig } from '@temporalio/client'

/** Certificates: fixed, or read at each connection, so that renewed ones are used without a restart. */
export type Certificates = TLSConfig | (() => TLSConfig)

/** All values are PEM. `ca` is the issuer of the server's certificate. */
export interface OwnCertificate {
  readonly cert: string
  readonly key: string
  readonly ca: string | readonly string[]
}

/** The configuration value: `false`: no TLS; files of the operator; default: the machine's own certificate. */
export type TlsSetting =
  | false
  | {
      readonly ca: string
      readonly certificate: string
      readonly key: string
      /** The name in the server's certificate. Default: the host of the address. */
      readonly serverName?: string
    }
  | undefined

/** The name in certificates from `skerry admin temporal-server create`. Certificates of cells, consoles and workflow servers do not contain it. */
const SERVER_NAME = 'temporal.skerry'
/** How long files of the operator are cached before they are read again. */
const FILES_MS = 60_000

/** The TLS options of a connection; undefined if the configuration disables TLS. */
export function certificatesFor(
  setting: TlsSetting,
  own: () => OwnCertificate,
): Certificates | undefined {
  if (setting === false) return undefined
  return setting === undefined ? () => pair(own(), SERVER_NAME) : fromFiles(setting)
}

function fromFiles({ ca, certificate, key, serverName }: Exclude<TlsSetting, false | undefined>) {
  const read = () => {
    const [cert, secret, issuer] = [certificate, key, ca].map((file) => readFileSync(file, 'utf8'))
    return pair({ cert: cert ?? '', key: secret ?? '', ca: issuer ?? '' }, serverName)
  }
  // Read once here, so that a missing file fails the start with its name.
  let [known, readAt] = [read(), performance.now()]
  return () => {
    if (performance.now() - readAt < FILES_MS) return known
    readAt = performance.now()
    try {
      known = read()
    } catch {
      // The files are being replaced: the last ones are used until the new ones are complete.
    }
    return known
  }
}

const pair = ({ cert, key, ca }: OwnCertificate, serverName: string | undefined): TLSConfig => ({
  serverRootCACertificate: Buffer.from([ca].flat().join('\n')),
  clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) },
  ...(serverName !== undefined && { serverNameOverride: serverName }),
})

/** The options of a new connection. */
export const tlsNow = (tls: Certificates | undefined): TLSConfig | undefined =>
  typeof tls === 'function' ? tls() : tls

/** Whether a connection that was opened with `one` may stay open when `other` is the current configuration. */
export function isSameTls(one: TLSConfig | undefined, other: TLSConfig | undefined): boolean {
  if (one === other) return true
  return partsOf(one).equals(partsOf(other))
}

const partsOf = (tls: TLSConfig | undefined): Buffer =>
  Buffer.concat([
    tls?.serverRootCACertificate ?? Buffer.alloc(0),
    tls?.clientCertPair?.crt ?? Buffer.alloc(0),
    tls?.clientCertPair?.key ?? Buffer.alloc(0),
  ])
