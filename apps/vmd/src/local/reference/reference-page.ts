import { createHash } from 'node:crypto'

import { pathNames, type About, type DescribedRow } from '@skerry/service'
import { element, renderElement, type Element } from '@skerry/xml'

import { curlLine } from './curl-line.ts'
import { referenceStyle } from './reference-style.ts'
import { sketch, type SketchShape } from './sketch.ts'

const styleHash = createHash('sha256').update(referenceStyle).digest('base64')

/** The page runs no script, loads nothing and cannot be framed. */
export const referenceHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Every route with its curl command: one HTML page, complete without a script. */
export function referencePage(rows: readonly DescribedRow[], about: About): string {
  const groups = Map.groupBy(rows, (row) => about.group(row))
  const page = element(
    'html',
    { lang: 'en' },
    element(
      'head',
      {},
      element('meta', { charset: 'utf-8' }),
      element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      element('title', {}, about.title),
      element('style', {}, referenceStyle),
    ),
    element(
      'body',
      {},
      header(about, [...groups.keys()]),
      element(
        'main',
        {},
        ...[...groups].map(([name, group]) => section(name, group, about)),
        footer(),
      ),
    ),
  )
  return `<!doctype html>\n${renderElement(page)}\n`
}

function header(about: About, groups: readonly string[]): Element {
  const links = groups.map((name) => element('a', { href: `#${idOf(name)}` }, name))
  return element(
    'header',
    {},
    element('h1', {}, about.title),
    element('p', { class: 'soft' }, about.description),
    element('nav', { 'aria-label': 'Groups' }, ...links),
  )
}

function section(name: string, rows: readonly DescribedRow[], about: About): Element {
  const articles = rows.map((row) => article(row, about))
  return element('section', {}, element('h2', { id: idOf(name) }, name), ...articles)
}

function article(row: DescribedRow, about: About): Element {
  const path = row.path.replaceAll(/:(\w+)/g, '{$1}')
  const method = element('span', { class: `method ${row.method.toLowerCase()}` }, row.method)
  return element(
    'article',
    { id: row.name },
    element('h3', {}, method, element('code', {}, path)),
    element('p', {}, row.doc),
    element('pre', {}, element('code', {}, curlLine(row, about.server))),
    element('dl', {}, ...rowFacts(row)),
  )
}

function rowFacts(row: DescribedRow): Element[] {
  const query = Object.entries(row.query?.properties ?? {}) as [string, SketchShape][]
  const lines: [string, string][] = [
    ...pathNames(row.path).map((name): [string, string] => [name, 'in the path']),
    ...query.map(([name, shape]): [string, string] => [`?${name}=`, sketch(shape)]),
    ...(row.takes
      ? [['body', sketch(row.takes.shape as SketchShape)] satisfies [string, string]]
      : []),
    ...Object.entries(row.answers).map(([status, what]): [string, string] => [
      status,
      typeof what === 'string' ? what : sketch(what as SketchShape),
    ]),
  ]
  return lines.flatMap(([term, text]) => [
    element('dt', {}, element('code', {}, term)),
    element('dd', {}, element('code', {}, text)),
  ])
}

function footer(): Element {
  const document = element('a', { href: '/openapi.json' }, 'OpenAPI document')
  const webUi = element('a', { href: '/ui/' }, 'web UI')
  return element(
    'footer',
    {},
    'The same for programs: ',
    document,
    '. The same to click: ',
    webUi,
    '.',
  )
}

const idOf = (group: string): string => group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
