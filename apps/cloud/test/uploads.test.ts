// Goal: an image comes into a catalog whole or not at all: in parts, after a break, once, and only one that is what it was said to be.
// Method: real qcow2 files over HTTP, sent in parts by Content-Range; senders that break off; a cell that dies is one whose lease is over.
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

import { hashToken } from '../src/identity/sessions.ts'
import { keepHouse } from '../src/reconcile/house.ts'
import { find, hrefOf, linksOf, openDoor, pathOf, read, XML, type Door } from './tenants-door.ts'

const run = promisify(execFile)
let door: Door
let dir: string
let image: Buffer
before(async () => {
  door = await openDoor()
  dir = await mkdtemp(join(tmpdir(), 'skerry-uploads-'))
  const file = join(dir, 'image')
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', file, '8M'])
  // No two are the same, so that each has its own digest.
  await run('qemu-io', ['-f', 'qcow2', '-c', `write -P ${randomBytes(1)[0]} 0 512k`, file])
  image = await readFile(file)
})
after(async () => {
  await rm(dir, { recursive: true, force: true })
  await door[Symbol.asyncDispose]()
})

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
let count = 0
const announce = (more = '', size = image.length, token = door.eng.token) =>
  door.ask('POST', `/api/catalog/${door.eng.ids['catalog']}/action/upload`, {
    token,
    body: `<UploadParams name="image-${(count += 1)}" size="${size}" ${more}/>`,
  })
const announced = async (more = '', size = image.length) =>
  pathOf(hrefOf(read(await announce(more, size), 201)))

const partsIn = async () => (await readdir(door.images)).filter((name) => name.endsWith('.part'))
const someIsHere = async (): Promise<boolean> => {
  const sizes = (await partsIn()).map(async (name) => (await stat(join(door.images, name))).size)
  return (await Promise.all(sizes)).some((size) => size > 0)
}

/** A cell says how much came before it says that nobody is sending. */
const nobodySends = async (): Promise<boolean> => {
  const { rows } = await sql<{ free: boolean }>`
    select bool_and(sending_until < clock_timestamp()) as free from upload`.execute(door.cloud.db)
  return rows[0]?.free ?? false
}

/** Sends these bytes; breaks off after so many of them if told. */
function send(
  path: string,
  bytes: Buffer,
  range?: string,
  breakAfter?: number,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ accept: XML, 'x-cloud-authorization': door.eng.token },
      ...{ 'content-length': String(bytes.length), ...(range && { 'content-range': range }) },
    }
    const options = { port: door.port, host: '127.0.0.1', method: 'PUT', path, headers }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    if (breakAfter === undefined) sent.end(bytes)
    else {
      sent.write(bytes.subarray(0, breakAfter))
      until('some of it has come', someIsHere).then(() => sent.destroy(), reject)
    }
  })
}
const part = (from: number, to: number, size = image.length) =>
  [image.subarray(from, to), `bytes ${from}-${to - 1}/${size}`] as const
const received = async (path: string): Promise<number> => {
  const [file] = find(read(await door.ask('GET', path, { token: door.eng.token })), 'File')
  return Number(attribute(file, 'bytesTransferred'))
}

test('an image comes in parts, becomes a template of its catalog, and can be made into a vApp', async () => {
  const catalog = read(
    await door.ask('GET', `/api/catalog/${door.eng.ids['catalog']}`, { token: door.eng.token }),
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
    assert.match(text, new RegExp(`${half} bytes are here`))
  }
  const last = await send(path, ...part(half, image.length))
  assert.equal(last.status, 201, last.text)
  const item = readXml(last.text)
  assert.equal(localName(item.name), 'CatalogItem')
  const template = pathOf(hrefOf(find(item, 'Entity')[0]))
  const shown = read(await door.ask('GET', template, { token: door.eng.token }))
  const said = (name: string) => find(shown, name)[0]?.children[0]
  assert.deepEqual(['Digest', 'NumberOfCpus', 'MemoryMB', 'DiskMB'].map(said), [
    ...[digestOf(image), '2', '96', '8'],
  ])
  assert.deepEqual(await readFile(join(door.images, digestOf(image))), image)
  assert.deepEqual(await partsIn(), [])
  assert.equal((await door.ask('GET', path, { token: door.eng.token })).status, 404)
  const made = await door.ask(
    'POST',
    `/api/vdc/${door.eng.ids['vdc']}/action/instantiateVAppTemplate`,
    {
      token: door.eng.token,
      body: `<InstantiateVAppTemplateParams name="of it" powerOn="false"><Source href="${template}"/></InstantiateVAppTemplateParams>`,
    },
  )
  assert.equal(made.status, 201, made.text)
})

test('a sender that breaks off goes on where it was; one that was killed is waited for, then given up', async () => {
  const path = await announced()
  await assert.rejects(send(path, image, undefined, 70_000))
  await until('what came is written down', async () => (await received(path)) > 0)
  await until('nobody is sending any more', nobodySends)
  const there = await received(path)
  assert.ok(there <= 70_000)

  // As a cell leaves it that was killed: its lease runs, and its file holds more than was written down.
  const { db } = door.cloud
  await sql`update upload set sending_until = clock_timestamp() + interval '30 s'`.execute(db)
  const [name = ''] = await partsIn()
  const file = join(door.images, name)
  await writeFile(file, Buffer.concat([await readFile(file), randomBytes(1000)]))
  assert.equal((await send(path, ...part(there, image.length))).status, 409)
  await sql`update upload set sending_until = clock_timestamp() - interval '1 s'`.execute(db)
  const whole = await send(path, ...part(there, image.length))
  assert.equal(whole.status, 201, whole.text)
  assert.deepEqual(await readFile(join(door.images, digestOf(image))), image)
})

test('one that died when all of it was there is ended by asking, without sending it again', async () => {
  const path = await announced()
  const id = path.split('/').at(-1) ?? ''
  await writeFile(join(door.images, `upload-${id}.part`), image)
  await sql`update upload set received = bytes where id = ${id}`.execute(door.cloud.db)
  const ended = await send(path, Buffer.alloc(0), `bytes */${image.length}`)
  assert.equal(ended.status, 201, ended.text)
})

test('what is not what it was said to be is refused, and nothing is left of it', async () => {
  const backed = join(dir, 'backed')
  await run('qemu-img', [
    ...['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', join(dir, 'image'), backed],
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
    assert.equal((await door.ask('GET', path, { token: door.eng.token })).status, 404)
  }
  assert.deepEqual(await partsIn(), [])
  const bad = ['size="0"', 'size="x"', `size="${256 * 1024 ** 3 + 1}"`, 'size="9" sha256="x"', '']
  for (const attributes of bad) {
    const { status } = await door.ask(
      'POST',
      `/api/catalog/${door.eng.ids['catalog']}/action/upload`,
      {
        token: door.eng.token,
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
  assert.equal(await received(path), 10, 'what came is kept')
})

test('names are taken once, uploads count as storage, and one that is taken back or forgotten is gone', async () => {
  const first = await announced()
  const { rows } = await sql<{
    name: string
  }>`select name from upload where id = ${first.split('/').at(-1) ?? ''}`.execute(door.cloud.db)
  const again = await door.ask('POST', `/api/catalog/${door.eng.ids['catalog']}/action/upload`, {
    token: door.eng.token,
    body: `<UploadParams name="${rows[0]?.name}" size="5"/>`,
  })
  assert.equal(again.status, 409)
  await send(first, ...part(0, 100))
  const gone = await door.ask('DELETE', first, { token: door.eng.token })
  assert.equal(gone.status, 204)
  assert.ok(!(await partsIn()).some((name) => name.includes(first.split('/').at(-1) ?? 'none')))

  const { db } = door.cloud
  await db.insertInto('quota').values({ org: door.eng.org, storage_mib: 1000 }).execute()
  assert.equal((await announce('', 2000 * 1024 ** 2)).status, 409)
  assert.equal((await announce('', 100 * 1024 ** 2)).status, 201)

  const old = await announced()
  await send(old, ...part(0, 100))
  await sql`update upload set touched_at = clock_timestamp() - interval '25 h'`.execute(db)
  assert.ok((await keepHouse(db)) >= 1)
  await announced()
  assert.equal((await door.ask('GET', old, { token: door.eng.token })).status, 404)
  assert.deepEqual(await partsIn(), [], 'its bytes go when the next one comes')
})

test('a transfer keeps its session alive, and ends with it', async () => {
  const token = await door.enter(door.eng.org, 'author')
  const path = pathOf(hrefOf(read(await announce('', image.length, token), 201)))
  const session = () =>
    door.cloud.db.selectFrom('session').where('token_hash', '=', hashToken(token))
  const answered = Promise.withResolvers<number | undefined>()
  const sent = request(
    {
      ...{ port: door.port, host: '127.0.0.1', method: 'PUT', path },
      headers: {
        ...{ accept: XML, 'x-cloud-authorization': token },
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
  await until('some of it has come', someIsHere)
  await sql`update session set seen_at = clock_timestamp() - interval '20 min'
    where token_hash = ${hashToken(token)}`.execute(door.cloud.db)
  door.time.aheadMs += 60_000
  sent.write(image.subarray(1000, 2000))
  await until('that it goes on is written down', async () => {
    const { seen_at: seen } = await session().select('seen_at').executeTakeFirstOrThrow()
    return Date.now() - seen.getTime() < 60_000
  })
  await door.cloud.db.deleteFrom('session').where('token_hash', '=', hashToken(token)).execute()
  door.time.aheadMs += 60_000
  sent.write(image.subarray(2000, 3000))
  assert.equal(await answered.promise, 401)
  sent.destroy()
  assert.equal(await received(path), 2000, 'what came before is kept')
})
