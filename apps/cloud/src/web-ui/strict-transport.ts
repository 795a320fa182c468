import { X509Certificate } from 'node:crypto'

import { isIssuedBy } from '@skerry/service'

/**
 * Makes browsers use HTTPS only, for a year. Not with a certificate of the cloud's own issuer: most browsers do not know it, and with
 * this header a user could not open the page at all.
 */
export const strictTransport = (
  cert: string,
  site: string | undefined,
): Readonly<Record<string, string>> =>
  site === undefined || isIssuedBy(new X509Certificate(cert), site)
    ? {}
    : { 'strict-transport-security': 'max-age=31536000' }
