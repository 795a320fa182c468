// Goal: a client reaches a cloud, and reports clearly if it does not. Method: a small local server in its place.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'

import {
  addAccessToken,
  cloudByToken,
  cloudOrigin,
  follow,
  logIn,
  logOut,
  NoAnswer,
  sendHttp,
  sendUpload,
  wholeBody,
  type Waiting,
} from '@skerry/cloud-client'
import { readXml } from '@skerry/xml'

type Reply = (requested: IncomingMessage, body: Buffer, reply: ServerResponse) => void

async function startCloud(answer: Reply) {
  const server = createServer((requested, reply) => {
    const parts: Buffer[] = []
    requested.on('data', (part: Buffer) => parts.push(part))
    requested.on('end', () => answer(requested, Buffer.concat(parts), reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a token is sent only over HTTPS or to this machine', () => {
  assert.equal(cloudOrigin('https://cloud.example/').origin, 'https://cloud.example')
  assert.equal(cloudOrigin('https://cloud.example:8443/api').origin, 'https://cloud.example:8443')
  assert.equal(cloudOrigin('http://127.0.0.1:80').origin, 'http://127.0.0.1')
  assert.equal(cloudOrigin('http://[::1]:8080').origin, 'http://[::1]:8080')
  for (const wrong of [
    'http://cloud.example',
    'http://127.example.com',
    'http://localhost.example',
    'ftp://127.0.0.1',
    'cloud.example',
    'https://c/x',
    '',
  ]) {
    assert.throws(() => cloudOrigin(wrong), { kind: 'invalid' }, wrong)
  }
})

test('a server may be silent for longer than Node.js keeps idle sockets, unless a limit is given', async () => {
  await using cloud = await startCloud((_, __, reply) => {
    setTimeout(() => reply.end('done'), 5500)
  })
  const server = { name: 'the cloud', url: cloud.url }
  const [slow, late] = await Promise.allSettled([
    sendHttp(server, { method: 'GET', path: '/' }).then(wholeBody),
    sendHttp(server, { method: 'GET', path: '/', silenceMs: 200 }),
  ])
  assert.equal(slow.status === 'fulfilled' && slow.value.toString(), 'done')
  assert.ok(late.status === 'rejected' && late.reason instanceof NoAnswer)
})

test('a login returns a session token, with which an API token is created', async () => {
  const seen: string[] = []
  await using cloud = await startCloud((requested, body, reply) => {
    const { authorization, 'x-cloud-authorization': token } = requested.headers
    seen.push([requested.method, requested.url, authorization ?? token, body].join(' ').trim())
    if (requested.url === '/api/sessions') {
      reply.setHeader('x-cloud-authorization', 'T')
      reply.end('<Session/>')
    } else if (requested.method === 'DELETE') reply.writeHead(204).end()
    else if (requested.method === 'GET')
      reply.end('<AccessTokens><AccessToken name="mine"/></AccessTokens>')
    else
      reply
        .writeHead(201)
        .end(
          '<AccessToken href="https://c/api/session/tokens/1"><Token>skat_1</Token></AccessToken>',
        )
  })
  assert.equal(await logIn(cloud, 'bob@blue', 'pass:word'), 'T')
  const session = cloudByToken(cloud, 'T')
  const made = await addAccessToken(session, 'mine')
  assert.deepEqual(made, { token: 'skat_1', href: 'https://c/api/session/tokens/1' })
  await logOut(session)
  const basic = Buffer.from('bob@blue:pass:word').toString('base64')
  assert.equal(seen[0], `POST /api/sessions Basic ${basic}`)
  assert.equal(seen[1], 'GET /api/session/tokens T')
  assert.match(
    seen[2] ?? '',
    /^POST \/api\/session\/tokens T .*<AccessTokenParams .*name="mine, 2"/s,
  )
  assert.equal(seen[3], 'DELETE /api/session T')
})

test('no response and a rejection are different faults', async () => {
  const away = cloudByToken({ url: 'http://127.0.0.1:9' }, 'T')
  await assert.rejects(
    away.session(),
    (error) => error instanceof NoAnswer && error.kind === 'unavailable',
  )
  await using cloud = await startCloud((requested, body, reply) => reply.writeHead(401).end())
  const refused = cloudByToken(cloud, 'T').session()
  await assert.rejects(refused, (error) => !(error instanceof NoAnswer))
  await using broken = await startCloud((requested, body, reply) => {
    reply.writeHead(200, { 'content-length': 100 }).write('<Se')
    reply.destroy()
  })
  await assert.rejects(cloudByToken(broken, 'T').session(), (error) => error instanceof NoAnswer)
})

test('a server that stays silent is given up, if a limit is set', async () => {
  await using cloud = await startCloud((requested, _, reply) => {
    if (requested.url === '/head') reply.writeHead(200).flushHeaders()
  })
  const server = { name: 'the server', url: cloud.url }
  const silent = sendHttp(server, { method: 'GET', path: '/nothing', silenceMs: 100 })
  await assert.rejects(silent, {
    message: `the server at ${cloud.url} cannot be reached: timed out`,
  })
  // Long enough for an answer that must arrive.
  const begun = await sendHttp(server, { method: 'GET', path: '/head', silenceMs: 2_000 })
  assert.equal(begun.status, 200)
  await assert.rejects(wholeBody(begun), (error) => error instanceof NoAnswer)
})

test('an endless response is read in chunks and can be abandoned', async () => {
  await using cloud = await startCloud((requested, _, reply) => {
    reply.writeHead(200)
    const { 'x-cloud-authorization': token, 'last-event-id': after } = requested.headers
    reply.write(`${String(token)} ${String(after)}`)
  })
  const requested = {
    method: 'GET',
    path: '/api/events',
    headers: { 'last-event-id': '7' },
  } as const
  const { status, chunks } = await follow(cloud, { 'x-cloud-authorization': 'T' }, requested)
  assert.equal(status, 200)
  for await (const chunk of chunks) {
    assert.equal(Buffer.from(chunk).toString(), 'T 7')
    break
  }
})

test('an image is sent in parts, and resumed where the cloud says after a failure', async () => {
  const image = Buffer.alloc(20 * 1024 ** 2, 7)
  let come = 0
  let breaks = 1
  const ranges: string[] = []
  const document = () =>
    `<Upload href="https://c/api/transfer/1"><Link rel="upload:default" href="https://c/api/transfer/1"/>` +
    `<File size="${image.length}" bytesTransferred="${come}"/></Upload>`
  await using cloud = await startCloud((requested, body, reply) => {
    if (requested.method === 'GET') return reply.end(document())
    ranges.push(String(requested.headers['content-range']))
    if (ranges.length === 2 && breaks-- > 0) {
      // The connection breaks after half of it.
      come += body.length / 2
      return reply.destroy()
    }
    come += body.length
    return reply.end(come === image.length ? '<CatalogItem name="x"/>' : document())
  })
  const reported: number[] = []
  const waiting: Waiting = {
    now: () => 0,
    pause: async () => undefined,
    progress: (done) => reported.push(done),
  }
  const read = async (from: number, most: number) => image.subarray(from, from + most)
  const item = await sendUpload(cloudByToken(cloud, 'T'), readXml(document()), read, waiting)
  assert.equal(item.name, 'CatalogItem')
  assert.deepEqual(ranges, [
    'bytes 0-8388607/20971520',
    'bytes 8388608-16777215/20971520',
    'bytes 12582912-20971519/20971520',
  ])
  assert.deepEqual(reported, [0, 40, 60])
})
