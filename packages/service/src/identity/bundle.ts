/** Key and certificate of a machine. Both are PEM. */
export interface KeyAndCert {
  readonly key: string
  /** Followed by its issuer, so that a joining machine can check the chain. */
  readonly cert: string
}

/** Certificate, issuer and key in one file, so that they are replaced together. */
export const bundle = ({ key, cert }: KeyAndCert): string => cert + key

export function splitBundle(text: string): KeyAndCert {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) ?? []
  const key = blocks.find((block) => block.includes('PRIVATE KEY'))
  const cert = blocks.filter((block) => block.includes('BEGIN CERTIFICATE-')).join('')
  if (key === undefined || cert === '') throw new Error('a key or a certificate is missing')
  return { key, cert }
}
