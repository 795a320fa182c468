import { openApi, type About, type DescribedRow } from '@skerry/service'
import { Type } from 'typebox'

import { referenceHeaders, referencePage } from '../reference-page.ts'
import { route, type LocalRoute } from '../route.ts'
import { Refusal } from '../words.ts'

const DocumentBody = Type.Object({ openapi: Type.String() })

const about: About = {
  title: 'Skerry: virtual machines of this computer',
  // Existing clients compare it before they go on.
  version: '1.0.0',
  description:
    'Create, clone, power, share folders with and delete virtual machines. Bodies are JSON or one bare word, whatever the Content-Type. A refusal is always JSON with code, message and, where we know it, a hint what to do next.',
  server: 'http://127.0.0.1:8080',
  refusal: Refusal,
  group: groupOf,
}

/** The rows that describe the others, and themselves. */
export function describing(others: readonly LocalRoute[]): LocalRoute[] {
  const rows: LocalRoute[] = []
  // Made when first asked for: the rows are then complete.
  let made: { readonly page: string; readonly document: object } | undefined
  const all = () => [...others, ...rows]
  const written = () =>
    (made ??= { page: referencePage(all(), about), document: openApi(all(), about) })
  rows.push(
    route({
      name: 'readReference',
      method: 'GET',
      path: '/',
      permission: 'local',
      answers: { 200: 'text/html' },
      doc: 'This page.',
      handle: async () => ({ status: 200, headers: referenceHeaders, body: written().page }),
    }),
    route({
      name: 'readOpenApi',
      method: 'GET',
      path: '/openapi.json',
      permission: 'local',
      answers: { 200: DocumentBody },
      doc: 'The OpenAPI 3.1 document of all that is here.',
      handle: async () => ({ status: 200, body: written().document }),
    }),
    route({
      name: 'readSwagger',
      method: 'GET',
      path: '/json/swagger.json',
      permission: 'local',
      answers: { 200: DocumentBody },
      doc: 'The same document where existing clients look for it.',
      handle: async () => ({ status: 200, body: written().document }),
    }),
  )
  return rows
}

/** The part of a VM that the path is about, or else the noun below /api. */
function groupOf({ path }: DescribedRow): string {
  const [first, second, third, fourth] = path.split('/').slice(1)
  if (first === 'console') return 'guest'
  if (first !== 'api' || second === undefined) return 'about'
  if (second !== 'vms' || third === undefined) return second === 'vms' ? 'virtual machines' : second
  if (third === 'power') return 'power'
  const part = fourth ?? 'virtual machines'
  return groups[part] ?? part
}

const groups: Readonly<Record<string, string>> = {
  reset: 'power',
  reboot: 'power',
  ipaddress: 'network',
  forwards: 'network',
  exec: 'guest',
  serial: 'guest',
  stats: 'guest',
  screenshot: 'guest',
  screen: 'guest',
}
