// Goal: a cell serves the web UI and its configuration, which names the session. Method: over HTTP, with and without a built UI.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { startIssuer } from '@skerry/lab'
import { loadPageFiles } from '@skerry/service'

import { ours } from '../src/dialect/dialect.ts'
import { roles, type Role } from '../src/domain/roles.ts'
import { strictTransport } from '../src/web-ui/strict-transport.ts'
import { BASE, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-ui-'))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>Skerry</title>')
  await writeFile(join(directory, 'assets/app-1.js'), 'export {}')
  api = await openTenantsApi(await loadPageFiles(directory))
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

type Headers = Readonly<Record<string, string>>

/** As a browser asks: the files of the UI are no documents of the API. */
async function get(
  path: string,
  headers: Headers = {},
  { port, method = 'GET' }: { readonly port?: number; readonly method?: string } = {},
): Promise<Answered> {
  const to = { port: port ?? api.port, host: '127.0.0.1', method, path, headers }
  const sent = request(to)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

const html = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
const page = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', accept: '*/*' }

test('the root leads to the UI, and every address of a page is the same file', async () => {
  const root = await get('/', html)
  assert.deepEqual([root.status, root.headers['location']], [302, '/ui/'])
  for (const path of ['/ui', '/ui/', '/ui/vms', '/ui/vms/vm-1?tab=x', '/ui/index.html']) {
    const { status, headers, text } = await get(path, html)
    assert.deepEqual([status, text], [200, '<!doctype html><title>Skerry</title>'], path)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'/,
    )
    assert.equal(headers['cache-control'], 'no-cache')
  }
  const script = await get('/ui/assets/app-1.js', page)
  assert.match(String(script.headers['cache-control']), /immutable/)
  const again = await get('/ui/', {
    ...html,
    'if-none-match': String((await get('/ui/', html)).headers['etag']),
  })
  assert.deepEqual([again.status, again.text], [304, ''])
  const head = await get('/ui/', html, { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('the page may open a WebSocket to the console of the configuration, and to nothing else', async () => {
  for (const path of ['/ui/', '/ui/assets/app-1.js', '/ui/config.json']) {
    const { headers } = await get(path, html)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /; connect-src 'self' wss:\/\/console\.example; frame-ancestors 'none';/)
  }
})

test('the UI makes browsers use HTTPS only, unless the certificate is of the cloud’s own issuer', async () => {
  await using own = await startIssuer('site')
  await using known = await startIssuer('known to browsers')
  const { cert: ownCert } = await own.issue('DNS:cloud.example')
  const { cert: knownCert } = await known.issue('DNS:cloud.example')
  assert.deepEqual(strictTransport(ownCert, own.cert), {})
  assert.deepEqual(strictTransport(knownCert, own.cert), {
    'strict-transport-security': 'max-age=31536000',
  })
})

test('files that are missing are 404, and no path leads out of the UI', async () => {
  const outside = ['/ui/assets/app-2.js', '/ui/..%2f..%2fpackage.json', '/ui/%2e%2e/package.json']
  for (const path of [...outside, '/ui/vms.json', '/nothing']) {
    const { status, headers } = await get(path, page)
    assert.equal(status, 404, path)
    assert.match(String(headers['content-security-policy']), /sandbox/)
  }
  assert.equal((await get('/ui/', { ...html }, { method: 'POST' })).status, 404)
})

test('the configuration names the session where the cookie counts, with role and rights', async () => {
  const loggedOut = {
    kind: 'cloud',
    name: 'cloud.example',
    version: '0.1.0',
    console: 'console.example',
    passkeys: true,
  }
  const read = async (
    headers: Headers,
  ): Promise<{ session?: Readonly<Record<string, unknown>> }> => {
    const { status, headers: got, text } = await get('/ui/config.json', headers)
    assert.deepEqual([status, got['cache-control']], [200, 'no-store'])
    assert.match(String(got['content-type']), /^application\/json/)
    return JSON.parse(text) as object
  }
  for (const role of Object.keys(roles) as Role[]) {
    const cookie = `${ours.pageCookie}=${await api.enter(api.eng.org, role)}`
    const { session, ...rest } = await read({ ...page, cookie })
    assert.deepEqual(rest, loggedOut)
    assert.deepEqual([session?.['org'], session?.['role']], ['eng', role])
    assert.deepEqual(session?.['right'], roles[role])
    const { text } = await api.ask('GET', '/api/session', {
      headers: { ...page, cookie, accept: 'application/*+json;version=5.1' },
    })
    assert.deepEqual(session, JSON.parse(text), 'the same document as that of the API')
    for (const site of ['none', 'cross-site', 'same-site']) {
      assert.deepEqual(await read({ ...page, cookie, 'sec-fetch-site': site }), loggedOut)
    }
  }
  assert.deepEqual(await read(page), loggedOut)
  assert.deepEqual(await read({ ...page, cookie: `${ours.pageCookie}=guess` }), loggedOut)
  assert.deepEqual(await read({ ...page, [ours.tokenHeader]: api.eng.token }), loggedOut)
})

test('events and pictures are open to a page by its cookie, without a version of the API', async () => {
  const cookie = `${ours.pageCookie}=${api.eng.token}`
  const { vms } = await api.cloud.addVms(1, 'POWERED_ON')
  const asked = [
    ['/api/events', 'text/event-stream', 200],
    ['/api/events', 'text/event-stream, application/*+json;version=5.1', 200],
    ['/api/events', 'text/event-stream;version=9.9', 406],
    [`/api/vApp/vm-${vms[0]}/screen`, 'image/avif,image/webp,*/*;q=0.8', 200],
    [`/api/vApp/vm-${vms[0]}`, '*/*', 406],
  ] as const
  for (const [path, accept, expected] of asked) {
    const headers = { ...page, accept, cookie }
    const sent = request({ port: api.port, host: '127.0.0.1', path, headers })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.destroy()
    assert.equal(response.statusCode, expected, `${path} ${accept}`)
  }
})

test('the listener of the original dialect serves no pages', async () => {
  const [, { port }] = api.spoken
  for (const path of ['/', '/ui/', '/ui/config.json']) {
    assert.equal((await get(path, html, { port })).status, 404, path)
  }
})

test('without a built UI its addresses say how to build it; the API works', async () => {
  await using plain = await openTenantsApi()
  const { status, headers, text } = await get('/ui/vms', html, plain)
  assert.equal(status, 503)
  assert.match(String(headers['content-type']), /^text\/plain/)
  assert.match(text, /npm run build:web/)
  assert.equal((await get('/ui/config.json', page, plain)).status, 200)
  const headersOfPage = { origin: BASE, accept: 'application/*+xml;version=5.1' }
  assert.equal((await get('/api/versions', headersOfPage, plain)).status, 200)
})
