// Goal: the files of a web UI are sent whole, compressed and cached as their names allow, with a policy that has no exception.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'

import { loadPageFiles, pageHeaders, pageResponse, type PageFiles } from '../src/http/page-files.ts'

const SCRIPT = 'export const text = "a script";\n'.repeat(50)
let directory: string
let files: PageFiles

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-pages-'))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>Skerry</title>'.repeat(20))
  await writeFile(join(directory, 'icon.svg'), '<svg/>')
  await writeFile(join(directory, 'assets/app-1a2b.js'), SCRIPT)
  await writeFile(join(directory, 'assets/font.woff2'), Buffer.from([1, 2, 3]))
  files = (await loadPageFiles(directory)) ?? assert.fail('no index.html')
})
after(() => rm(directory, { recursive: true, force: true }))

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a directory without index.html, or no directory, is no web UI', async () => {
  assert.equal(await loadPageFiles(join(directory, 'assets')), undefined)
  assert.equal(await loadPageFiles(join(directory, 'missing')), undefined)
})

test('what is no file is the page, if a browser asks for a page', () => {
  const index = pageResponse(files, 'index.html', {})
  assert.match(String(index?.body), /^<!doctype html>/)
  for (const path of ['', 'vms', 'vms/vm-1?x=1', '../../etc/passwd']) {
    assert.deepEqual(pageResponse(files, path, html), index, path)
  }
  assert.deepEqual(pageResponse(files, '', {}), index)
  assert.equal(pageResponse(files, 'vms', { accept: 'application/json' }), undefined)
  assert.equal(pageResponse(files, '../page-files.test.ts', {}), undefined)
  assert.equal(pageResponse(files, 'assets/app-other.js', html), undefined, 'of another version')
})

test('files with a hash in their name are cached for ever, the others are compared at each use', () => {
  const script = pageResponse(files, 'assets/app-1a2b.js', {})
  assert.equal(script?.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(script?.headers['content-type'], 'text/javascript; charset=utf-8')
  const index = pageResponse(files, '', html)
  assert.equal(index?.headers['cache-control'], 'no-cache')
  const etag = index?.headers['etag'] ?? assert.fail()
  for (const known of [etag, `"other", ${etag}`]) {
    const same = pageResponse(files, '', { ...html, 'if-none-match': known })
    assert.deepEqual([same?.status, same?.body, same?.headers['etag']], [304, undefined, etag])
  }
  assert.equal(pageResponse(files, '', { ...html, 'if-none-match': 'W/"other"' })?.status, 200)
})

test('text is compressed for clients that accept it, and only where that makes it smaller', () => {
  const asked = { 'accept-encoding': 'gzip, deflate, br' }
  const script = pageResponse(files, 'assets/app-1a2b.js', asked)
  assert.equal(script?.headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(script?.body ?? '').toString(), SCRIPT)
  for (const encoding of ['', 'identity', 'gzip;q=0', 'gzip; q=0.0, br']) {
    const plain = pageResponse(files, 'assets/app-1a2b.js', { 'accept-encoding': encoding })
    assert.deepEqual([plain?.headers['content-encoding'], String(plain?.body)], [undefined, SCRIPT])
  }
  const font = pageResponse(files, 'assets/font.woff2', asked)
  assert.deepEqual([font?.headers['content-encoding'], font?.body?.length], [undefined, 3])
})

test('the policy names the servers that the page may contact, and changes in nothing else', () => {
  const policyOf = (contacts?: readonly string[]) =>
    pageHeaders(contacts)['content-security-policy'] ?? ''
  assert.equal(
    policyOf(['wss://console.example:9444']),
    policyOf().replace("connect-src 'self'", "connect-src 'self' wss://console.example:9444"),
  )
})

test('every file has the policy of pages, without an exception', () => {
  for (const name of files.keys()) {
    const { headers } = pageResponse(files, name, {}) ?? assert.fail(name)
    const policy = headers['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.doesNotMatch(policy, /unsafe|nonce-|sha\d|\*|https?:/)
    for (const rule of ["frame-ancestors 'none'", "trusted-types 'none'", "base-uri 'none'"]) {
      assert.ok(policy.includes(rule), rule)
    }
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
  }
})
