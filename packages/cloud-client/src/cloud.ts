import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, readXml, renderDocument, type Element } from '@skerry/xml'

import type { SendRequest, CloudAnswer } from './ask.ts'
import { reviveFault } from './revive-fault.ts'

export const NAMESPACE = 'urn:skerry:cloud:1.5'
/** The API version in use. */
export const ACCEPT = 'application/*+xml;version=5.1'

/** The header with a code of the caller's second factor. */
export const SECOND_FACTOR_HEADER = 'x-cloud-second-factor'

export interface RequestContent {
  readonly body?: Element
  /** Idempotency key: requests with the same key take effect once. */
  readonly key?: string
  /** One part of a large upload, instead of a document. */
  readonly part?: ByteRange
  /** A code of the caller's second factor, or a recovery code. */
  readonly code?: string
  readonly signal?: AbortSignal
}

/** A part of a file of `of` bytes. */
export interface ByteRange {
  readonly from: number
  readonly of: number
  readonly bytes: Uint8Array
}

/** Client of the cloud API. It follows hrefs from documents and never builds them. */
export class Cloud {
  readonly #ask: SendRequest

  constructor(ask: SendRequest) {
    this.#ask = ask
  }

  /** The document at an href. Only the path counts: the host is always this cloud. */
  async get(href: string, signal?: AbortSignal): Promise<Element> {
    return documentOf(await this.#send('GET', href, signal ? { signal } : {}))
  }

  /** The text at an href that is no document, such as a table in CSV. */
  async getText(href: string, signal?: AbortSignal): Promise<string> {
    return (await this.#send('GET', href, signal ? { signal } : {})).text
  }

  /** Sends a change; returns a Task, or the created resource with its Task in it. Undefined for an empty response. */
  async act(
    method: 'POST' | 'PUT' | 'DELETE',
    href: string,
    sent: RequestContent = {},
  ): Promise<Element | undefined> {
    const answer = await this.#send(method, href, sent)
    return answer.text === '' ? undefined : documentOf(answer)
  }

  /** The current session: user, organisation and links. */
  session(signal?: AbortSignal): Promise<Element> {
    return this.get('/api/session', signal)
  }

  async #send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    href: string,
    { body, key, part, code, signal }: RequestContent,
  ): Promise<CloudAnswer> {
    const answer = await this.#ask({
      method,
      path: pathOf(href),
      headers: {
        accept: ACCEPT,
        ...(body && { 'content-type': 'application/xml' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(part && headersOf(part)),
        ...(code !== undefined && { [SECOND_FACTOR_HEADER]: code }),
      },
      ...(part && { bytes: part.bytes }),
      ...(body && { body: renderDocument(rooted(body)) }),
      ...(signal && { signal }),
    })
    if (answer.status >= 200 && answer.status < 300) return answer
    throw reviveFault(answer)
  }
}

const headersOf = ({ from, of, bytes }: ByteRange): Readonly<Record<string, string>> => ({
  'content-type': 'application/octet-stream',
  'content-range': `bytes ${from}-${from + bytes.length - 1}/${of}`,
})

const rooted = (root: Element): Element => ({
  ...root,
  attributes: { xmlns: NAMESPACE, ...root.attributes },
})

/** The path of an href, so that a document cannot send the client to another host. */
export function pathOf(href: string): string {
  const url = URL.parse(href, 'https://cloud')
  if (url?.protocol === 'https:' && url.pathname.startsWith('/api/'))
    return url.pathname + url.search
  throw new Fault('invalid', `${href} is not an address of the cloud`)
}

function documentOf({ text, status }: CloudAnswer): Element {
  try {
    return readXml(text)
  } catch (cause) {
    throw new Fault('unavailable', `the response with status ${status} is not a cloud document`, {
      cause,
    })
  }
}

/** The href of a link by relation, and by type if given; undefined means the action is not available now. */
export function linkOf(document: Element, rel: string, type?: string): string | undefined {
  const found = childrenByLocalName(document, 'Link').find(
    (link) =>
      attribute(link, 'rel') === rel &&
      (type === undefined || attribute(link, 'type')?.endsWith(`.${type}+xml`)),
  )
  return attribute(found, 'href')
}

/** The same for a required link. */
export function linkTo(document: Element, rel: string, type?: string): string {
  const href = linkOf(document, rel, type)
  if (href !== undefined) return href
  const name = attribute(document, 'name') ?? document.name
  throw new Fault(
    'conflict',
    `${name} has no link ${rel}${type === undefined ? '' : ` to ${type}`}`,
    {
      hint: 'its state does not allow the action, or the user lacks the right',
    },
  )
}
