// Goal: an image gets into a catalog completely or not at all: in parts, after an interruption, once, and only if it is as announced.
// Method: real qcow2 files over HTTP, sent in parts by Content-Range; senders that disconnect; a dead cell is one whose lease expired.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { until } from '@skerry/lab'
import { attribute, localName, readXml } from '@skerry/xml'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import {
  find,
  hrefOf,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  XML,
  type TenantsApi,
} from './tenants-api.ts'

const run = promisify(execFile)
let api: TenantsApi
let dir: string
let image: Buffer
before(async () => {
  api = await openTenantsApi()
  dir = await mkdtemp(join(tmpdir(), 'skerry-uploads-'))
  const file = join(dir, 'image')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', file, '8M'])
  // All images differ, so that each has its own digest.
  await run('qemu-io', ['-f', 'qcow2', '-c', `write -P ${randomBytes(1)[0]} 0 512k`, file])
  image = await readFile(file)
})
after(async () => {
  await rm(dir, { recursive: true, force: true })
  await api[Symbol.asyncDispose]()
})

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
let count = 0
const announce = (more = '', size = image.length, token = api.eng.token) =>
  api.ask('POST', `/api/catalog/${api.eng.ids['catalog']}/action/upload`, {
    token,
    body: `<UploadParams name="image-${(count += 1)}" size="${size}" ${more}/>`,
  })
const announced = async (more = '', size = image.length) =>
  pathOf(hrefOf(read(await announce(more, size), 201)))

const partsIn = async () => (await readdir(api.images)).filter((name) => name.endsWith('.part'))
const someIsHere = async (): Promise<boolean> => {
  const sizes = (await partsIn()).map(async (name) => (await stat(join(api.images, name))).size)
  return (await Promise.all(sizes)).some((size) => size > 0)
}

/** A cell records the received bytes before it records that the sender has gone. */
const nobodySends = async (): Promise<boolean> => {
  const { rows } = await sql<{ free: boolean }>`
    select bool_and(sending_until < clock_timestamp()) as free from upload`.execute(api.cloud.db)
  return rows[0]?.free ?? false
}

/** Sends these bytes; disconnects after this many of them, if given. */
function send(
  path: string,
  bytes: Buffer,
  range?: string,
  breakAfter?: number,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: XML,
      'x-cloud-authorization': api.eng.token,
      'content-length': String(bytes.length),
      ...(range && { 'content-range': range }),
    }
    const options = { port: api.port, host: '127.0.0.1', method: 'PUT', path, headers }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    if (breakAfter === undefined) sent.end(bytes)
    else {
      sent.write(bytes.subarray(0, breakAfter))
      until('some bytes have arrived', someIsHere).then(() => sent.destroy(), reject)
    }
  })
}
const part = (from: number, to: number, size = image.length) =>
  [image.subarray(from, to), `bytes ${from}-${to - 1}/${size}`] as const
const received = async (path: string): Promise<number> => {
  const [file] = find(read(await api.ask('GET', path, { token: api.eng.token })), 'File')
  return Number(attribute(file, 'bytesTransferred'))
}

test('an image is sent in parts, becomes a template of its catalog, and can be instantiated', async () => {
  const catalog = read(
    await api.ask('GET', `/api/catalog/${api.eng.ids['catalog']}`, { token: api.eng.token }),
  )
  assert.match(linksOf(catalog)['add'] ?? '', /action\/upload$/)
  const path = await announced(`sha256="${digestOf(image)}" numberOfCpus="2" memoryMB="96"`)
  const half = image.length >> 1
  const first = await send(path, ...part(0, half))
  assert.equal(first.status, 200, first.text)
  assert.equal(await received(path), half)
  for (const wrong of [part(0, half), part(half + 1, image.length)]) {
    const { status, text } = await send(path, ...wrong)
    assert.equal(status, 409)
    assert.match(text, new RegExp(`${half} bytes were received`))
  }
  const last = await send(path, ...part(half, image.length))
  assert.equal(last.status, 201, last.text)
  const item = readXml(last.text)
  assert.equal(localName(item.name), 'CatalogItem')
  const template = pathOf(hrefOf(find(item, 'Entity')[0]))
  const shown = read(await api.ask('GET', template, { token: api.eng.token }))
  const said = (name: string) => find(shown, name)[0]?.children[0]
  assert.deepEqual(['Digest', 'NumberOfCpus', 'MemoryMB', 'DiskMB'].map(said), [
    digestOf(image),
    '2',
    '96',
    '8',
  ])
  assert.deepEqual(await readFile(join(api.images, digestOf(image))), image)
  assert.deepEqual(await partsIn(), [])
  assert.equal((await api.ask('GET', path, { token: api.eng.token })).status, 404)
  const made = await api.ask(
    'POST',
    `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`,
    {
      token: api.eng.token,
      body: `<InstantiateVAppTemplateParams name="of it" powerOn="false"><Source href="${template}"/></InstantiateVAppTemplateParams>`,
    },
  )
  assert.equal(made.status, 201, made.text)
})

test('an interrupted sender continues where it was; the lease of a killed cell is waited for, then expires', async () => {
  const path = await announced()
  await assert.rejects(send(path, image, undefined, 70_000))
  await until('the received bytes are recorded', async () => (await received(path)) > 0)
  await until('the sender has disconnected', nobodySends)
  const there = await received(path)
  assert.ok(there <= 70_000)

  // The state that a killed cell leaves: its lease is valid, and its file has more bytes than were recorded.
  const { db } = api.cloud
  await sql`update upload set sending_until = clock_timestamp() + interval '30 s'`.execute(db)
  const [name = ''] = await partsIn()
  const file = join(api.images, name)
  await writeFile(file, Buffer.concat([await readFile(file), randomBytes(1000)]))
  assert.equal((await send(path, ...part(there, image.length))).status, 409)
  await sql`update upload set sending_until = clock_timestamp() - interval '1 s'`.execute(db)
  const whole = await send(path, ...part(there, image.length))
  assert.equal(whole.status, 201, whole.text)
  assert.deepEqual(await readFile(join(api.images, digestOf(image))), image)
})

test('an upload whose cell died after the last byte is completed by a request without bytes', async () => {
  const path = await announced()
  const id = path.split('/').at(-1) ?? ''
  await writeFile(join(api.images, `upload-${id}.part`), image)
  await sql`update upload set received = bytes where id = ${id}`.execute(api.cloud.db)
  const ended = await send(path, Buffer.alloc(0), `bytes */${image.length}`)
  assert.equal(ended.status, 201, ended.text)
})

test('an image that differs from its announcement is rejected, and nothing is left of it', async () => {
  const backed = join(dir, 'backed')
  await run('qemu-img', [
    'create',
    '-q',
    '-f',
    'qcow2',
    '-F',
    'qcow2',
    '-b',
    join(dir, 'image'),
    backed,
  ])
  const wrong: [Buffer, string, number][] = [
    [image, `sha256="${'0'.repeat(64)}"`, 400],
    [randomBytes(4096), '', 409],
    [await readFile(backed), '', 409],
  ]
  for (const [bytes, more, status] of wrong) {
    const path = await announced(more, bytes.length)
    const answer = await send(path, bytes)
    assert.equal(answer.status, status, answer.text)
    assert.equal((await api.ask('GET', path, { token: api.eng.token })).status, 404)
  }
  assert.deepEqual(await partsIn(), [])
  const bad = ['size="0"', 'size="x"', `size="${256 * 1024 ** 3 + 1}"`, 'size="9" sha256="x"', '']
  for (const attributes of bad) {
    const { status } = await api.ask(
      'POST',
      `/api/catalog/${api.eng.ids['catalog']}/action/upload`,
      {
        token: api.eng.token,
        body: `<UploadParams name="bad" ${attributes}/>`,
      },
    )
    assert.equal(status, 400, attributes)
  }
  const path = await announced()
  for (const range of ['bytes 5-4/9', 'bytes 0-999999999/*', 'lines 0-1/2', `bytes 0-1/7`]) {
    assert.equal((await send(path, image.subarray(0, 2), range)).status, 400, range)
  }
  const short = await send(path, image.subarray(0, 10), `bytes 0-19/${image.length}`)
  assert.equal(short.status, 400)
  assert.equal(await received(path), 10, 'the received bytes are kept')
})

test('names are unique, uploads count as storage, and a deleted or abandoned upload is removed', async () => {
  const first = await announced()
  const { rows } = await sql<{
    name: string
  }>`select name from upload where id = ${first.split('/').at(-1) ?? ''}`.execute(api.cloud.db)
  const again = await api.ask('POST', `/api/catalog/${api.eng.ids['catalog']}/action/upload`, {
    token: api.eng.token,
    body: `<UploadParams name="${rows[0]?.name}" size="5"/>`,
  })
  assert.equal(again.status, 409)
  await send(first, ...part(0, 100))
  const gone = await api.ask('DELETE', first, { token: api.eng.token })
  assert.equal(gone.status, 204)
  assert.ok(!(await partsIn()).some((name) => name.includes(first.split('/').at(-1) ?? 'none')))

  const { db } = api.cloud
  await db.insertInto('quota').values({ org: api.eng.org, storage_mib: 1000 }).execute()
  assert.equal((await announce('', 2000 * 1024 ** 2)).status, 409)
  assert.equal((await announce('', 100 * 1024 ** 2)).status, 201)

  const old = await announced()
  await send(old, ...part(0, 100))
  await sql`update upload set touched_at = clock_timestamp() - interval '25 h'`.execute(db)
  assert.ok((await deleteExpired(db)) >= 1)
  await announced()
  assert.equal((await api.ask('GET', old, { token: api.eng.token })).status, 404)
  assert.deepEqual(await partsIn(), [], 'its bytes are removed when the next upload starts')
})

test('a transfer keeps its session alive, and ends with it', async () => {
  const token = await api.enter(api.eng.org, 'author')
  const path = pathOf(hrefOf(read(await announce('', image.length, token), 201)))
  const session = () =>
    api.cloud.db.selectFrom('session').where('token_hash', '=', hashToken(token))
  const answered = Promise.withResolvers<number | undefined>()
  const sent = request(
    {
      port: api.port,
      host: '127.0.0.1',
      method: 'PUT',
      path,
      headers: {
        accept: XML,
        'x-cloud-authorization': token,
        'content-length': String(image.length),
      },
    },
    (response) => {
      response.resume()
      answered.resolve(response.statusCode)
    },
  )
  sent.on('error', answered.reject)
  sent.write(image.subarray(0, 1000))
  await until('some bytes have arrived', someIsHere)
  await sql`update session set seen_at = clock_timestamp() - interval '20 min'
    where token_hash = ${hashToken(token)}`.execute(api.cloud.db)
  api.time.aheadMs += 60_000
  sent.write(image.subarray(1000, 2000))
  await until('the progress is recorded', async () => {
    const { seen_at: seen } = await session().select('seen_at').executeTakeFirstOrThrow()
    return Date.now() - seen.getTime() < 60_000
  })
  await api.cloud.db.deleteFrom('session').where('token_hash', '=', hashToken(token)).execute()
  api.time.aheadMs += 60_000
  sent.write(image.subarray(2000, 3000))
  assert.equal(await answered.promise, 401)
  sent.destroy()
  assert.equal(await received(path), 2000, 'the earlier bytes are kept')
})
