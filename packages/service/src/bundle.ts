/** What a machine shows of itself. PEM, both. */
export interface Shown {
  readonly key: string
  /** With its issuer behind it, so that a machine that joins can see whose it is. */
  readonly cert: string
}

/** Certificate, its issuer and key in one file, so that they are replaced as one. */
export const bundle = ({ key, cert }: Shown): string => cert + key

export function splitBundle(text: string): Shown {
  const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) ?? []
  const key = blocks.find((block) => block.includes('PRIVATE KEY'))
  const cert = blocks.filter((block) => block.includes('BEGIN CERTIFICATE-')).join('')
  if (key === undefined || cert === '') throw new Error('a key or a certificate is missing')
  return { key, cert }
}
