// Links as a client sees them: readable links are read, actions are executed, and the followed ones are recorded.
import assert from 'node:assert/strict'

import { attribute, childrenByLocalName, localName, type Element } from '@skerry/xml'

import { isAction } from '../../../apps/cloud/test/acts.ts'
import { taskOf, type CloudClient, type Reply } from '../../../apps/cloud/test/cloud-client.ts'
import { BOOT_MS } from './place.ts'

const words: Readonly<Record<string, string>> = {
  '-1': 'FAILED_CREATION',
  0: 'UNRESOLVED',
  1: 'RESOLVED',
  3: 'SUSPENDED',
  4: 'POWERED_ON',
  6: 'UNKNOWN',
  8: 'POWERED_OFF',
  10: 'MIXED',
}

/** The body of a link that shares a vApp or a catalog. */
export const SHARED =
  '<ControlAccessParams><IsSharedToEveryone>true</IsSharedToEveryone><EveryoneAccessLevel>ReadOnly</EveryoneAccessLevel></ControlAccessParams>'

const ID = /^(?:vm-|vapp-|vappTemplate-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The link, its document and the status: 'Vm POWERED_ON power:reset'. */
export function keyOf(node: Element, link: Element): string {
  const status = attribute(node, 'status')
  const state = /^(Vm|VApp)$/.test(localName(node.name)) ? words[status ?? ''] : undefined
  const rel = attribute(link, 'rel') ?? ''
  const { pathname } = new URL(attribute(link, 'href') ?? '', 'https://anywhere')
  const tail = pathname.split('/').at(-1) ?? ''
  const what = rel === 'add' && !ID.test(tail) ? `add ${tail}` : rel
  return [localName(node.name), state, what].filter(Boolean).join(' ')
}

export interface Walked {
  readonly documents: number
  readonly links: number
}

/** Links shown while no task ran, and those that were followed. */
export class Ledger {
  readonly shown = new Set<string>()
  readonly followed = new Set<string>()
  read = 0

  /** Reads every readable link from the client's entry point on: each returns 200. */
  async walk(client: CloudClient, from: readonly string[]): Promise<Walked> {
    const first = await client.get('/api/session')
    const base = new URL(attribute(first, 'href') ?? '').origin
    const seen = new Set(from.map((path) => `${base}${path}`))
    let links = 0
    for (const href of seen) {
      assert.ok(href.startsWith(`${base}/api/`), href)
      const { status, text, root, headers } = await client.ask('GET', href)
      assert.equal(status, 200, `${href}\n${text}`)
      if (!root) assert.match(String(headers['content-type']), /^(image\/png|text\/csv)/, href)
      if (!root) continue
      this.keep(root)
      for (const next of toRead(root)) {
        links += 1
        seen.add(next)
      }
    }
    this.read += seen.size
    return { documents: seen.size, links }
  }

  /** Records the actions of the document and of those inside it. */
  keep(node: Element): void {
    for (const link of childrenByLocalName(node, 'Link')) {
      const href = attribute(link, 'href')
      if (isAction(attribute(link, 'rel'), href)) this.shown.add(keyOf(node, link))
    }
    for (const each of node.children) if (typeof each !== 'string') this.keep(each)
  }

  /** Links followed by another client. */
  note(node: Element, link: Element): void {
    this.followed.add(keyOf(node, link))
  }

  /** Executes a linked action: the link must exist, and the action must be accepted. */
  async follow(
    client: CloudClient,
    from: string,
    rel: string,
    { body = '', end = '' }: { readonly body?: string; readonly end?: string } = {},
  ): Promise<Reply> {
    const node = await client.get(from)
    this.keep(node)
    const link = childrenByLocalName(node, 'Link').find(
      (each) =>
        attribute(each, 'rel') === rel &&
        isAction(rel, attribute(each, 'href')) &&
        (attribute(each, 'href') ?? '').endsWith(end),
    )
    assert.ok(link, `${keyOf(node, linkTo(rel, from))} is not linked`)
    const method = rel === 'remove' ? 'DELETE' : rel === 'edit' ? 'PUT' : 'POST'
    const reply = await client.ask(method, attribute(link, 'href') ?? '', { body })
    const key = keyOf(node, link)
    assert.ok(reply.status >= 200 && reply.status < 300, `${key}: ${reply.status} ${reply.text}`)
    this.followed.add(key)
    return reply
  }

  /** The same, and waits for the task to succeed; returns its document. */
  async act(client: CloudClient, from: string, rel: string, body = '', end = ''): Promise<Element> {
    const reply = await this.follow(client, from, rel, { body, end })
    assert.ok([201, 202].includes(reply.status), `${rel}: ${reply.status} ${reply.text}`)
    if (reply.status === 202) assert.equal(reply.headers['location'], taskOf(reply.root))
    const task = await client.ended(taskOf(reply.root), BOOT_MS)
    assert.equal(attribute(task, 'status'), 'success', `${rel}: ${JSON.stringify(task)}`)
    return task
  }

  get missed(): readonly string[] {
    return [...this.shown.difference(this.followed)].toSorted()
  }
}

const linkTo = (rel: string, href: string): Element => ({
  name: 'Link',
  attributes: { rel, href },
  children: [],
})

/** Every address in a document that is not an action. */
function* toRead(node: Element): Iterable<string> {
  const href = attribute(node, 'href') ?? ''
  if (href !== '' && !isAction(attribute(node, 'rel'), href)) yield href
  for (const each of node.children) if (typeof each !== 'string') yield* toRead(each)
}

/** The links of a document as the specification lists them: rel, type, href and the name if there is one. */
export const linksIn = (root: Element): readonly string[] =>
  childrenByLocalName(root, 'Link').map((each) =>
    ['rel', 'type', 'name', 'href'].map((name) => attribute(each, name) ?? '-').join(' '),
  )
