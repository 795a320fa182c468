import { Fault } from '@skerry/fault'

import type { SendRequest, CloudRequest } from './ask.ts'
import { isSafe, sendHttp, ANSWER_MS, wholeBody, type HttpResponse } from './http-client.ts'

/** The URL of a cloud, and the certificates to trust for it. */
export interface CloudAddress {
  /** E.g. `https://cloud.example`. */
  readonly url: string
  /** PEM certificates that are trusted in addition to the public root certificates. */
  readonly ca?: string
}

export const TOKEN_HEADER = 'x-cloud-authorization'

/** Requires HTTPS: a token is sent in clear text only to this machine. */
export function cloudOrigin(address: string): URL {
  const url = URL.parse(address)
  if (url && isSafe(url) && ['/', '/api', '/api/'].includes(url.pathname)) {
    return new URL(url.origin)
  }
  throw new Fault(
    'invalid',
    `the address of a cloud must be like https://cloud.example, not ${address}`,
  )
}

/** The HTTPS transport of a cloud's client. */
export const overHttps =
  (at: CloudAddress, credentials: Readonly<Record<string, string>>): SendRequest =>
  async (requested) => {
    const response = await follow(at, credentials, requested, ANSWER_MS)
    const { status, headers } = response
    return { status, headers, text: (await wholeBody(response)).toString('utf8') }
  }

/** A response in chunks, by default an endless one. The caller checks the status. */
export async function follow(
  { url, ca }: CloudAddress,
  credentials: Readonly<Record<string, string>>,
  { body, bytes, headers, ...requested }: CloudRequest,
  silenceMs?: number,
): Promise<HttpResponse> {
  // Refuses an address to which the credentials must not be sent.
  cloudOrigin(url)
  return sendHttp(
    { name: 'the cloud', url, ca },
    {
      ...requested,
      headers: { ...headers, ...credentials },
      body: body ?? bytes,
      ...(silenceMs !== undefined && { silenceMs }),
    },
  )
}
