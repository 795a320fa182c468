import { element } from '@skerry/xml'

import { thing, type Document, type Part, type Scalar } from './document.ts'

export interface Link {
  readonly rel: string
  readonly href: string
  readonly attributes?: Readonly<Record<string, Scalar>>
}

/** Values of attributes are text in both formats: clients compare them with 'true'. */
export function link({ rel, href, attributes }: Link): Document {
  const told = Object.entries(attributes ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, value: String(value) }))
  const inside: Part | undefined = attributes && {
    name: 'attributes',
    json: told,
    get xml() {
      return element('attributes', {}, ...told.map((each) => thing('attribute', each).xml))
    },
  }
  return thing('link', { rel, href }, inside)
}

export function relations(links: readonly Link[], total?: number): Part {
  const all = links.map(link)
  return {
    name: 'relations',
    json: { ...(total !== undefined && { total }), link: all.map(({ json }) => json) },
    xml: element('relations', { total }, ...all.map(({ xml }) => xml)),
  }
}
