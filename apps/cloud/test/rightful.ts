// A valid request for every route, as a base for malformed bytes.
import assert from 'node:assert/strict'

import type { CloudRoute } from '../src/http/route.ts'
import type { Opened } from './api-process.ts'
import { acceptOf, exampleAt, exampleOf } from './every-route.ts'
import type { Draft } from './malformed.ts'

/** The kind of a route. */
export function kindOf({ permission, path, method, answers }: CloudRoute): string {
  if (permission === 'login') return 'login'
  if (/upload|transfer/i.test(path)) return 'upload'
  if (path.endsWith('/query')) return 'query'
  if (path.startsWith('/api/admin')) return 'admin'
  if (method === 'DELETE') return 'delete'
  if (method === 'GET') return 'read'
  return answers[201] === undefined ? 'action' : 'create'
}

const ROOT = /^<\w+/
const XMLNS = 'xmlns="urn:skerry:cloud:1.5"'

export function bodyOf(route: CloudRoute, { ids, vapp }: Opened, name: string): string {
  if (!route.takes) return ''
  const example = exampleOf(route, exampleAt(ids, vapp, name))
  return example?.replace(ROOT, `$& ${XMLNS}`) ?? 'bytes'
}

const QUERY = 'filter=status==POWERED_ON&fields=name&page=1&pageSize=25&sortAsc=name'

export function rightful(route: CloudRoute, opened: Opened, name: string): Draft {
  const whole = /recompose|leaseSettings/.test(route.path)
  const ids: Readonly<Record<string, string>> = {
    ...opened.ids,
    ...(whole && { entity: opened.vapp }),
  }
  const path = route.path.replace(/:(\w+)/g, (_, each: string) => {
    assert.ok(ids[each], `no example of :${each}`)
    return ids[each]
  })
  const kind = kindOf(route)
  const type = path === '/api/query' ? 'type=vm&' : ''
  const token =
    route.name === 'deleteSession'
      ? opened.leaver
      : path.startsWith('/api/admin')
        ? opened.administrator
        : opened.author
  const basic = Buffer.from('nobody@eng:secret').toString('base64')
  return {
    method: route.method,
    path: kind === 'query' ? `${path}?${type}${type === '' ? 'pageSize=25' : QUERY}` : path,
    version: 'HTTP/1.1',
    headers: [
      ['Host', '127.0.0.1'],
      ['Accept', acceptOf(route).accept],
      ['Content-Type', 'application/xml'],
      kind === 'login' ? ['Authorization', `Basic ${basic}`] : ['x-cloud-authorization', token],
    ],
    body: Buffer.from(bodyOf(route, opened, name), 'utf8').toString('latin1'),
    length: 'right',
    tail: '',
    isCut: false,
  }
}
