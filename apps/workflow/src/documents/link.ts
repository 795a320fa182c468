import { element } from '@skerry/xml'

import { resource, type Document, type DocumentPart, type Scalar } from './document.ts'

export interface DocumentLink {
  readonly rel: string
  readonly href: string
  readonly attributes?: Readonly<Record<string, Scalar>>
}

/** Attribute values are text in both formats: clients compare them with 'true'. */
export function link({ rel, href, attributes }: DocumentLink): Document {
  const entries = Object.entries(attributes ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, value: String(value) }))
  const inside: DocumentPart | undefined = attributes && {
    name: 'attributes',
    json: entries,
    get xml() {
      return element('attributes', {}, ...entries.map((each) => resource('attribute', each).xml))
    },
  }
  return resource('link', { rel, href }, inside)
}

export function relations(links: readonly DocumentLink[], total?: number): DocumentPart {
  const all = links.map(link)
  return {
    name: 'relations',
    json: { ...(total !== undefined && { total }), link: all.map(({ json }) => json) },
    xml: element('relations', { total }, ...all.map(({ xml }) => xml)),
  }
}
