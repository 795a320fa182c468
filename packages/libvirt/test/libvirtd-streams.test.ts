import assert from 'node:assert/strict'
import { createHash, randomFillSync } from 'node:crypto'
import { chown, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import * as libvirt from '../src/index.ts'
import { needsLibvirtd, startLibvirtd, type Libvirtd } from './start-libvirtd.ts'

const skip = needsLibvirtd
const MIB = 1024 * 1024

interface Storage extends AsyncDisposable {
  readonly connection: libvirt.Connection
  readonly directory: string
  volume(name: string, bytes: number): Promise<libvirt.StorageVol>
}

async function openStorage({ socket, directory }: Libvirtd): Promise<Storage> {
  const path = join(directory, 'pool')
  await mkdir(path)
  if (process.getuid?.() === 0) await chown(path, 65_534, 65_534)
  const connection = await libvirt.Connection.open({ socket, uri: 'storage:///session' })
  const target = `<target><path>${path}</path></target>`
  const xml = `<pool type="dir"><name>pool</name>${target}</pool>`
  const { pool } = await connection.call(libvirt.storagePoolCreateXml, { xml, flags: 0 })
  return {
    connection,
    directory: path,
    async volume(name, bytes) {
      const format = '<target><format type="raw"/></target>'
      const size = `<capacity>${bytes}</capacity><allocation>0</allocation>`
      const xml = `<volume><name>${name}</name>${size}${format}</volume>`
      const { vol } = await connection.call(libvirt.storageVolCreateXml, { pool, xml, flags: 0 })
      return vol
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  }
}

test('a screenshot is read to its end', { skip }, async () => {
  await using daemon = await startLibvirtd()
  const { socket } = daemon
  await using connection = await libvirt.Connection.open({ socket, uri: 'test:///default' })
  const { dom } = await connection.call(libvirt.domainLookupByName, { name: 'test' })
  const args = { dom, screen: 0, flags: 0 }
  const { ret, stream } = await connection.openStream(libvirt.domainScreenshot, args)
  assert.equal(ret.mime, 'image/png')
  const bytes = await buffer(stream)
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG')
  assert.equal(bytes.toString('latin1', bytes.length - 8, bytes.length - 4), 'IEND')
})

test('an uploaded volume can be downloaded', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using storage = await openStorage(daemon)
  const { connection } = storage
  const bytes = randomFillSync(Buffer.alloc(24 * MIB + 123))
  const vol = await storage.volume('there-and-back', bytes.length)
  const args = { vol, offset: 0n, length: 0n, flags: 0 }
  const upload = await connection.openStream(libvirt.storageVolUpload, args)
  await pipeline(Readable.from(pieces(bytes)), upload.stream)
  assert.ok((await readFile(join(storage.directory, 'there-and-back'))).equals(bytes))
  const download = await connection.openStream(libvirt.storageVolDownload, args)
  assert.ok((await buffer(download.stream)).equals(bytes))
})

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += 300_000) {
    yield bytes.subarray(offset, offset + 300_000)
  }
}

test('two streams and calls share a link without disturbing each other', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using storage = await openStorage(daemon)
  const { connection } = storage
  const [first, second] = [await storage.volume('a', 8 * MIB), await storage.volume('b', 8 * MIB)]
  const [one, other] = [Buffer.alloc(8 * MIB, 'one'), Buffer.alloc(8 * MIB, 'other')]
  const upload = async (vol: libvirt.StorageVol, bytes: Buffer): Promise<void> => {
    const args = { vol, offset: 0n, length: 0n, flags: 0 }
    const { stream } = await connection.openStream(libvirt.storageVolUpload, args)
    await pipeline(Readable.from(pieces(bytes)), stream)
  }
  const calls = Array.from({ length: 100 }, () =>
    connection.call(libvirt.connectGetType, undefined),
  )
  await Promise.all([upload(first, one), upload(second, other), ...calls])
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  assert.equal(digest(await readFile(join(storage.directory, 'a'))), digest(one))
  assert.equal(digest(await readFile(join(storage.directory, 'b'))), digest(other))
})

test('a reader that takes its time does not fill memory', { skip }, async () => {
  await using daemon = await startLibvirtd()
  await using storage = await openStorage(daemon)
  const vol = await storage.volume('large', 96 * MIB)
  const args = { vol, offset: 0n, length: 0n, flags: 0 }
  const before = process.memoryUsage().arrayBuffers
  const { stream } = await storage.connection.openStream(libvirt.storageVolDownload, args)
  // Long enough for the daemon to send all of it, if it could.
  await sleep(700)
  const held = process.memoryUsage().arrayBuffers - before
  assert.ok(held < 16 * MIB, `${held} bytes were held at once`)
  let read = 0
  for await (const chunk of stream) {
    read += (chunk as Buffer).length
    if (read > 16 * MIB) break
  }
  // The link still works after the stream was left.
  assert.ok((await storage.connection.call(libvirt.connectGetType, undefined)).type)
})

test(
  "a stream that fails at the server fails here with the server's message",
  { skip },
  async () => {
    await using daemon = await startLibvirtd()
    await using storage = await openStorage(daemon)
    const vol = { pool: 'pool', name: 'nothing', key: '/nowhere/at/all' }
    const args = { vol, offset: 0n, length: 0n, flags: 0 }
    const opening = storage.connection.openStream(libvirt.storageVolDownload, args)
    await assert.rejects(opening, { name: 'LibvirtError', code: libvirt.ErrorCode.noStorageVol })
  },
)
