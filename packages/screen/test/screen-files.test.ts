// Goal: only the page's files can be requested; they are compressed, cached by browsers, and have the security
// headers of the page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'

import { answerFile, answerPage, FILES_PATH, loadScreenFiles } from '../src/index.ts'

const files = await loadScreenFiles()
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  answerFile(files, { method, path, headers })
const at = (name: string): string => `${FILES_PATH}${files.version}/${name}`

test('the page and noVNC are there, types are stripped, and every import resolves', () => {
  assert.ok(files.files.has('page.js') && files.files.has('novnc/core/rfb.js'))
  let imports = 0
  for (const [name, { bodies }] of files.files) {
    const text = bodies.identity.toString()
    assert.ok(!/^\s*import type /m.test(text), name)
    for (const [, target = ''] of text.matchAll(
      /^(?:import|export)[^'"]*from\s*['"]([^'"]+)['"]/gm,
    )) {
      const { pathname } = new URL(target, `http://x/${name}`)
      assert.ok(target.startsWith('.') && files.files.has(pathname.slice(1)), `${name}: ${target}`)
      imports += 1
    }
  }
  assert.ok(imports > 60)
})

test('every file that the page names exists, and nothing is inline', () => {
  const html = files.page.bodies.identity.toString()
  const names = [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, name = '']) => name)
  for (const name of names.filter((each) => !each.startsWith('#')))
    assert.equal(ask(name)?.status, 200, name)
  assert.ok(!/<style|style=|<script>| on[a-z]+=|javascript:/i.test(html))
})

test('a file is sent in an encoding that the client accepts, with the same content', () => {
  const plain = ask(at('page.js'))
  const gzip = ask(at('page.js'), { 'accept-encoding': 'gzip, deflate, br, zstd' })
  assert.equal(gzip?.headers['content-encoding'], 'gzip')
  assert.equal(plain?.headers['content-encoding'], undefined)
  assert.ok(plain?.body?.equals(gunzipSync(gzip?.body ?? '')))
  assert.equal(plain?.headers['vary'], 'accept-encoding')
})

test('a file of this version is cached forever, one requested by a page of another version is not', () => {
  assert.match(ask(at('page.js'))?.headers['cache-control'] ?? '', /immutable/)
  const other = ask(`${FILES_PATH}${'0'.repeat(16)}/page.js`)
  assert.equal(other?.headers['cache-control'], 'no-cache')
  const etag = other?.headers['etag'] ?? ''
  assert.equal(ask(at('page.js'), { 'if-none-match': `"x", ${etag}` })?.status, 304)
  assert.equal(ask(at('page.js'), {}, 'HEAD')?.body, undefined)
  assert.equal(ask(at('page.js'), {}, 'POST')?.status, 405)
})

test('the page has the security headers for browsers, and is never cached', () => {
  const { status, headers } = answerPage(files, { method: 'GET', path: '/console', headers: {} })
  assert.equal(status, 200)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
  const policy = headers['content-security-policy'] ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ])
    assert.ok(policy.split('; ').includes(rule), rule)
  assert.ok(!/unsafe|\*|https?:/.test(policy))
})

/** Sixty ways to request something else. */
const detours = [
  '',
  '/',
  '//',
  '///',
  '/.',
  '/..',
  '/../',
  '/%2e%2e/',
  '/%2e%2e%2f',
  '/..%2f',
  '/..%5c',
  '/..\\',
  '\\..\\',
  '/....//',
  '/%252e%252e%252f',
  '/./page.js',
  '//page.js',
  '/page.js/',
  '/page.js/..',
  '/page.js%00',
  '/page.js%00.css',
  '/page.js\0',
  '/page.js;x=1',
  '/page.js#x',
  '/page.ts',
  '/page.html',
  '/tsconfig.json',
  '/novnc.d.ts',
  '/PAGE.JS',
  '/page.js.map',
  '/novnc',
  '/novnc/',
  '/novnc/package.json',
  '/novnc/LICENSE.txt',
  '/novnc/core',
  '/novnc/core/../page.js',
  '/novnc/../page.js',
  '/novnc//core/rfb.js',
  '/novnc/core/rfb',
  '/etc/passwd',
  '/../../../../etc/passwd',
  '/..%c0%af..%c0%afetc/passwd',
  '/proc/self/environ',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '/%5cevil.example',
  '/%2f%2fevil.example',
  '/http://evil.example',
  '/https:evil.example',
  '/@evil.example',
  '/%0d%0aLocation:%20//evil.example',
  '/\r\nLocation: //evil.example',
  '/__proto__',
  '/constructor',
  '/toString',
  '/hasOwnProperty',
  '/page.js?x=1',
  '/*',
  '/~root',
  `/${'a'.repeat(5000)}`,
]

test('sixty path traversals reach no file and redirect nowhere', () => {
  assert.ok(detours.length >= 60, String(detours.length))
  for (const detour of detours)
    for (const place of [`${FILES_PATH}${files.version}`, FILES_PATH.slice(0, -1), '/console', ''])
      assert.equal(ask(`${place}${detour}`), undefined, place + detour)
})
