import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** `random`: 256 bits as base64url. The form of Standard Webhooks. */
export const newSecret = (random: string): string =>
  `${PREFIX}${Buffer.from(random, 'base64url').toString('base64')}`

/** What a receiver needs to know that a message is ours, and which one it is. */
export interface SignedHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The headers of Standard Webhooks: one signature by each secret, so that a secret can be replaced while messages are sent. */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  sentAt: Date,
  body: string,
): SignedHeaders {
  const seconds = String(Math.floor(sentAt.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    const signed = createHmac('sha256', key).update(`${id}.${seconds}.${body}`)
    return `v1,${signed.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  }
}
