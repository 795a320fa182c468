import { Type } from '@skerry/schema'
import { openApi, type About, type DescribedRow } from '@skerry/service'

import { referenceHeaders, referencePage } from '../reference/reference-page.ts'
import { route, type LocalRoute } from '../route.ts'
import { Refusal } from '../words.ts'

const DocumentBody = Type.Object({ openapi: Type.String() })

const about: About = {
  title: 'Skerry: virtual machines of this computer',
  // Existing clients check this value.
  version: '1.0.0',
  description:
    'Create, clone, power, share folders with and delete virtual machines. Bodies are JSON or one bare word, regardless of the Content-Type. An error is always JSON with code, message and, if known, a hint about what to do next.',
  server: 'http://127.0.0.1:8080',
  refusal: Refusal,
  group: groupOf,
}

/** The routes that describe all routes, including themselves. */
export function describing(others: readonly LocalRoute[]): LocalRoute[] {
  const rows: LocalRoute[] = []
  // Built on first use: the list of routes is complete by then.
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
      doc: 'The OpenAPI 3.1 document of this API.',
      handle: async () => ({ status: 200, body: written().document }),
    }),
    route({
      name: 'readSwagger',
      method: 'GET',
      path: '/json/swagger.json',
      permission: 'local',
      answers: { 200: DocumentBody },
      doc: 'The same document at the path that existing clients expect.',
      handle: async () => ({ status: 200, body: written().document }),
    }),
  )
  return rows
}

/** The part of a VM in the path, or else the noun after /api. */
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
