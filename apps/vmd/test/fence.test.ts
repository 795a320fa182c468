import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'

import {
  ownHosts,
  passesFence,
  passesSocketFence,
  provenanceOf,
  type Provenance,
} from '../src/local/access/fence.ts'

const PORT = 8080

const requested = (parts: Partial<Provenance>, fence = passesFence): boolean =>
  fence(
    {
      method: 'GET',
      path: '/api/vms',
      host: '127.0.0.1:8080',
      origin: undefined,
      site: undefined,
      mode: undefined,
      dest: undefined,
      ...parts,
    },
    ownHosts(PORT),
  )

test('a tool other than a browser passes with each of the three names', () => {
  for (const host of ['127.0.0.1:8080', 'localhost:8080', 'LocalHost:8080', '[::1]:8080'])
    assert.equal(requested({ host }), true, host)
})

test('every other Host is rejected', () => {
  const hosts = [undefined, '', '127.0.0.1', 'localhost', '127.0.0.1:80', '127.0.0.1:08080']
  for (const host of [
    ...hosts,
    'localhost.:8080',
    'evil.example:8080',
    'localhost:8080.evil.example',
    'localhost:8080@evil.example',
    '127.0.0.2:8080',
    '127.1:8080',
    '0.0.0.0:8080',
    '2130706433:8080',
    '::1:8080',
    '[::]:8080',
    '[::ffff:127.0.0.1]:8080',
    '[0:0:0:0:0:0:0:1]:8080',
    'localhost:8080, evil.example',
    ' localhost:8080',
  ])
    assert.equal(requested({ host }), false, host ?? 'none')
})

test('the port may be omitted only if it is the default port', () => {
  const parts = { method: 'GET', path: '/', origin: undefined, site: undefined }
  const bare = { ...parts, mode: undefined, dest: undefined, host: 'localhost' }
  const own = ownHosts(80)
  assert.equal(passesFence(bare, own), true)
  assert.equal(passesFence({ ...bare, host: 'localhost:80' }, own), true)
  assert.equal(passesFence({ ...bare, host: 'localhost:8080' }, own), false)
})

test('our own page may send requests, other pages may not', () => {
  assert.equal(requested({ origin: 'http://127.0.0.1:8080' }), true)
  assert.equal(requested({ origin: 'http://127.0.0.1:8080', site: 'same-origin' }), true)
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    'https://127.0.0.1:8080',
    'http://127.0.0.1',
    'http://localhost:8080',
    'http://127.0.0.1:8080,http://evil.example',
    'http://127.0.0.1:8080.evil.example',
  ])
    assert.equal(requested({ origin }), false, origin)
  for (const site of ['cross-site', 'same-site', '', 'same-origin,none', 'anything'])
    assert.equal(requested({ site }), false, site)
  assert.equal(requested({ site: 'none' }), true)
})

test('a user may follow a link to a page from anywhere, but only to a page, and by our name', () => {
  const visit = { mode: 'navigate', dest: 'document', site: 'cross-site' }
  for (const path of [
    '/',
    '/?a=b',
    '/console/vm-1',
    '/console/vm-1?x=/api/vms',
    '/ui',
    '/ui/',
    '/ui/vms/vm-1?tab=log',
  ])
    assert.equal(requested({ ...visit, path }), true, path)
  for (const path of [
    '/api/vms',
    '/api/vms/vm-1',
    '//',
    '/consoles',
    '/uis',
    '/api/ui/session',
    '/metrics',
    '/console/vm-1/screen',
  ])
    assert.equal(requested({ ...visit, path }), false, path)
  assert.equal(requested({ ...visit, path: '/', method: 'POST' }), false)
  assert.equal(requested({ ...visit, path: '/', dest: 'iframe' }), false)
  assert.equal(requested({ ...visit, path: '/', host: 'evil.example:8080' }), false)
})

test('a socket may be opened by our own page and by other tools, never by a navigation', () => {
  const socket = (parts: Partial<Provenance>) =>
    requested({ path: '/console/vm-1/screen', ...parts }, passesSocketFence)
  const own = { origin: 'http://127.0.0.1:8080' }
  assert.equal(socket({}), true)
  assert.equal(socket(own), true)
  assert.equal(socket({ ...own, site: 'same-origin', mode: 'websocket', dest: 'websocket' }), true)
  for (const origin of [
    'null',
    '',
    'http://evil.example',
    'http://localhost:8080',
    'ws://127.0.0.1:8080',
  ])
    assert.equal(socket({ origin }), false, origin)
  for (const site of ['same-origin', 'none'])
    assert.equal(socket({ site }), false, 'a browser that hides its Origin')
  assert.equal(socket({ mode: 'websocket' }), true, 'a program in Node')
  assert.equal(socket({ mode: 'navigate', dest: 'document', site: 'cross-site' }), false)
  assert.equal(socket({ ...own, host: 'evil.example:8080' }), false)
  assert.equal(socket({ ...own, site: 'cross-site' }), false)
})

test('a path with its own host is rejected', () => {
  for (const path of ['http://evil.example/api/vms', 'http://127.0.0.1:8080/api/vms', '*', ''])
    assert.equal(requested({ path }), false, path)
})

test('headers are case-insensitive, and duplicates never count as one', () => {
  const read = (...rawHeaders: string[]) =>
    provenanceOf({ method: 'GET', url: '/', rawHeaders } as IncomingMessage)
  const page = ['ORIGIN', 'http://a', 'Sec-Fetch-Site', 'none', 'sec-fetch-MODE', 'cors']
  assert.deepEqual(read('hOST', 'localhost:8080', ...page, 'Sec-Fetch-Dest', 'empty'), {
    method: 'GET',
    path: '/',
    host: 'localhost:8080',
    origin: 'http://a',
    site: 'none',
    mode: 'cors',
    dest: 'empty',
  })
  const one = ['Host', 'localhost:8080']
  assert.equal(read().host, undefined)
  for (const count of [2, 3, 4])
    assert.equal(read(...Array.from({ length: count }, () => one).flat()).host, undefined)
  const twice = read(...one, ...page, 'Sec-Fetch-Dest', 'document', ...page)
  assert.deepEqual(
    [twice.origin, twice.site, twice.mode, twice.dest],
    ['http://a,http://a', 'none,none', 'cors,cors', 'document'],
  )
})
