import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, readXml, renderDocument, type Element } from '@skerry/xml'

import type { Ask, CloudAnswer } from './ask.ts'
import { reviveFault } from './revive-fault.ts'

export const NAMESPACE = 'urn:skerry:cloud:1.5'
/** Which version is spoken. */
export const ACCEPT = 'application/*+xml;version=5.1'

export interface Sent {
  readonly body?: Element
  /** The same key is the same request: whatever is asked twice by it is done once. */
  readonly key?: string
  /** Bytes of something large, instead of a document. */
  readonly part?: Part
  readonly signal?: AbortSignal
}

/** A part of something that has `of` bytes. */
export interface Part {
  readonly from: number
  readonly of: number
  readonly bytes: Uint8Array
}

/** The cloud as one client sees it: addresses are read from documents, never put together. */
export class Cloud {
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** The document at an address, of this cloud whatever host it names. */
  async get(href: string, signal?: AbortSignal): Promise<Element> {
    return documentOf(await this.#send('GET', href, signal ? { signal } : {}))
  }

  /** What came of it: a Task, or what was made, with its Task in it. Undefined where there is nothing to tell. */
  async act(
    method: 'POST' | 'PUT' | 'DELETE',
    href: string,
    sent: Sent = {},
  ): Promise<Element | undefined> {
    const answer = await this.#send(method, href, sent)
    return answer.text === '' ? undefined : documentOf(answer)
  }

  /** Who asks, and where there is anything to see. */
  session(signal?: AbortSignal): Promise<Element> {
    return this.get('/api/session', signal)
  }

  async #send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    href: string,
    { body, key, part, signal }: Sent,
  ): Promise<CloudAnswer> {
    const answer = await this.#ask({
      ...{ method, path: pathOf(href) },
      headers: {
        accept: ACCEPT,
        ...(body && { 'content-type': 'application/xml' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(part && headersOf(part)),
      },
      ...(part && { bytes: part.bytes }),
      ...(body && { body: renderDocument(rooted(body)) }),
      ...(signal && { signal }),
    })
    if (answer.status >= 200 && answer.status < 300) return answer
    throw reviveFault(answer)
  }
}

const headersOf = ({ from, of, bytes }: Part): Readonly<Record<string, string>> => ({
  'content-type': 'application/octet-stream',
  'content-range': `bytes ${from}-${from + bytes.length - 1}/${of}`,
})

const rooted = (root: Element): Element => ({
  ...root,
  attributes: { xmlns: NAMESPACE, ...root.attributes },
})

/** What a document says where something is leads to this cloud and to nobody else. */
export function pathOf(href: string): string {
  const url = URL.parse(href, 'https://cloud')
  if (url?.protocol === 'https:' && url.pathname.startsWith('/api/'))
    return url.pathname + url.search
  throw new Fault('invalid', `${href} is no address of the cloud`)
}

function documentOf({ text, status }: CloudAnswer): Element {
  try {
    return readXml(text)
  } catch (cause) {
    throw new Fault('unavailable', `the answer with ${status} is not the cloud's`, { cause })
  }
}

/** Where a link of this relation leads, and of this type if it is told; undefined: that may not be done now. */
export function linkOf(document: Element, rel: string, type?: string): string | undefined {
  const found = childrenByLocalName(document, 'Link').find(
    (link) =>
      attribute(link, 'rel') === rel &&
      (type === undefined || attribute(link, 'type')?.endsWith(`.${type}+xml`)),
  )
  return attribute(found, 'href')
}

/** The same, of what must be there. */
export function linkTo(document: Element, rel: string, type?: string): string {
  const href = linkOf(document, rel, type)
  if (href !== undefined) return href
  const name = attribute(document, 'name') ?? document.name
  throw new Fault(
    'conflict',
    `${name} has no link ${rel}${type === undefined ? '' : ` to ${type}`}`,
    {
      hint: 'it may not be done in the state that it is in, or not by this user',
    },
  )
}
