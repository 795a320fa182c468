import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { open, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { Fault } from '@skerry/fault'
import { checkImage, checkOverlay, readQcow2 } from '@skerry/image'

import { parseQcow2 } from '../src/qcow2.ts'
import { qcow2Image, VIRTUAL_BYTES } from './qcow2-image.ts'
import { imageInfo, qemuImg, withoutQemuImg } from './qemu-img.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const refusal = (reason: RegExp) => (error: unknown) =>
  error instanceof Fault && error.kind === 'image-refused' && reason.test(error.message)

const made: Readonly<Record<string, readonly string[]>> = {
  raw: ['-f', 'raw', 'FILE', '3M'],
  'qcow2 version 2': ['-f', 'qcow2', '-o', 'compat=0.10', 'FILE', '10G'],
  'qcow2 version 3': ['-f', 'qcow2', 'FILE', '10G'],
  'qcow2 with zstd': ['-f', 'qcow2', '-o', 'compression_type=zstd', 'FILE', '1G'],
  'qcow2 with extended L2 entries': ['-f', 'qcow2', '-o', 'extended_l2=on', 'FILE', '5G'],
  'qcow2 with lazy refcounts': ['-f', 'qcow2', '-o', 'lazy_refcounts=on', 'FILE', '1G'],
  'qcow2 with the smallest clusters': ['-f', 'qcow2', '-o', 'cluster_size=512', 'FILE', '8M'],
  'qcow2 with the largest clusters': ['-f', 'qcow2', '-o', 'cluster_size=2M', 'FILE', '2T'],
  'qcow2 with one-bit refcounts': ['-f', 'qcow2', '-o', 'refcount_bits=1', 'FILE', '1G'],
  'qcow2 with 64-bit refcounts': ['-f', 'qcow2', '-o', 'refcount_bits=64', 'FILE', '1G'],
  'qcow2 with preallocated metadata': [
    '-f',
    'qcow2',
    '-o',
    'preallocation=metadata',
    'FILE',
    '64M',
  ],
  'qcow2 of the largest disk': ['-f', 'qcow2', 'FILE', '2T'],
}

for (const [what, words] of Object.entries(made)) {
  test(
    `${what} by qemu-img is accepted with the size qemu-img sees`,
    { skip: withoutQemuImg },
    async () => {
      await using directory = await temporaryDirectory()
      const file = directory.at('disk')
      await qemuImg('create', '-q', ...words.map((word) => (word === 'FILE' ? file : word)))
      const verdict = await checkImage(file)
      const info = await imageInfo(file, verdict.format)
      assert.deepEqual(verdict, {
        format: words[1],
        virtualBytes: info['virtual-size'],
        fileBytes: (await stat(file)).size,
      })
    },
  )
}

test('a compressed image by qemu-img is accepted', { skip: withoutQemuImg }, async () => {
  await using directory = await temporaryDirectory()
  const [source, file] = [directory.at('source'), directory.at('disk')]
  await writeFile(source, Buffer.alloc(1_048_576, 'a'))
  await qemuImg('convert', '-c', '-f', 'raw', '-O', 'qcow2', source, file)
  assert.equal((await checkImage(file)).virtualBytes, 1_048_576)
})

test(
  'internal snapshots are accepted if the caller allows them',
  { skip: withoutQemuImg },
  async () => {
    await using directory = await temporaryDirectory()
    const file = directory.at('disk')
    await qemuImg('create', '-q', '-f', 'qcow2', file, '1G')
    await qemuImg('snapshot', '-c', 'one', file)
    await qemuImg('snapshot', '-c', 'two', file)
    await qemuImg('resize', '-q', '-f', 'qcow2', file, '2G')
    await assert.rejects(checkImage(file), refusal(/internal snapshots/))
    assert.equal((await checkImage(file, { snapshots: true })).virtualBytes, 2 * 1024 ** 3)
    assert.equal((await readQcow2(file)).snapshots, 2)
  },
)

test('the small test image is valid for qemu-img', { skip: withoutQemuImg }, async () => {
  await using directory = await temporaryDirectory()
  for (const version of [2, 3] as const) {
    const file = directory.at(`disk-${version}`)
    await writeFile(file, qcow2Image({ version }))
    await qemuImg('check', '-q', '-f', 'qcow2', file)
    assert.deepEqual(await checkImage(file), {
      format: 'qcow2',
      virtualBytes: VIRTUAL_BYTES,
      fileBytes: 2048,
    })
  }
})

test('disks with a partition table or a file system are raw', async () => {
  await using directory = await temporaryDirectory()
  const put = (at: number, bytes: string) => {
    const image = Buffer.alloc(64 * 1024)
    image.write(bytes, at, 'latin1')
    return image
  }
  const images = [
    put(510, '\x55\xaa'),
    put(512, 'EFI PART'),
    put(0x8001, 'CD001'),
    put(0x438, '\x53\xef'),
    put(0, '#cloud-config\n'),
  ]
  for (const image of images) {
    const file = directory.at('disk')
    await writeFile(file, image)
    const verdict = { format: 'raw', virtualBytes: 65_536, fileBytes: 65_536 }
    assert.deepEqual(await checkImage(file, { expect: 'raw' }), verdict)
  }
})

test('a sparse raw disk larger than the bytes read is judged by its end', async () => {
  await using directory = await temporaryDirectory()
  const file = directory.at('disk')
  await writeFile(file, '')
  await truncate(file, 2 * 1024 ** 4)
  assert.equal((await checkImage(file)).virtualBytes, 2 * 1024 ** 4)
  await using handle = await open(file, 'r+')
  await handle.write('conectix', 2 * 1024 ** 4 - 512)
  await assert.rejects(checkImage(file), refusal(/VHD/))
})

test('a handle is checked at any position, and stays open', async () => {
  await using directory = await temporaryDirectory()
  await writeFile(directory.at('disk'), qcow2Image())
  await using handle = await open(directory.at('disk'))
  await handle.read(Buffer.alloc(100), 0, 100)
  assert.equal((await checkImage(handle)).format, 'qcow2')
  assert.equal((await handle.stat()).size, 2048)
})

test('only a regular file is accepted: no link, pipe, device, socket or directory', async () => {
  await using directory = await temporaryDirectory()
  const notRegular = refusal(/not a regular file/)
  await writeFile(directory.at('disk'), qcow2Image())
  await symlink(directory.at('disk'), directory.at('link'))
  await promisify(execFile)('mkfifo', [directory.at('pipe')])
  await using server = createServer().listen(directory.at('socket'))
  await once(server, 'listening')
  for (const name of ['link', 'pipe', 'socket', '.']) {
    await assert.rejects(checkImage(directory.at(name)), notRegular, name)
  }
  await assert.rejects(checkImage('/dev/zero'), notRegular)
  await using handle = await open('/dev/zero')
  await assert.rejects(checkImage(handle), notRegular)
})

test('a missing file is not found', async () => {
  await using directory = await temporaryDirectory()
  await assert.rejects(
    checkImage(directory.at('disk')),
    (error) => error instanceof Fault && error.kind === 'not-found',
  )
})

test(
  'an overlay by qemu-img must have exactly our backing file',
  { skip: withoutQemuImg },
  async () => {
    await using directory = await temporaryDirectory()
    const [template, file] = [directory.at('template'), directory.at('disk')]
    await qemuImg('create', '-q', '-f', 'qcow2', template, '1G')
    await qemuImg('create', '-q', '-f', 'qcow2', '-b', template, '-F', 'qcow2', file, '2G')
    const ours = { backing: template, backingFormat: 'qcow2' } as const

    assert.equal((await checkOverlay(file, ours)).virtualBytes, 2 * 1024 ** 3)
    const header = await readQcow2(file)
    assert.deepEqual([header.backingFile, header.backingFormat], [template, 'qcow2'])

    await assert.rejects(checkImage(file), refusal(/it has a backing file/))
    await assert.rejects(checkOverlay(template, ours), refusal(/backing file is missing/))
    await assert.rejects(
      checkOverlay(file, { ...ours, backingFormat: 'raw' }),
      refusal(/unexpected backing format/),
    )
    for (const backing of [`${template}2`, template.slice(0, -1), `/${template}`, '/']) {
      await assert.rejects(
        checkOverlay(file, { ...ours, backing }),
        refusal(/unexpected backing file/),
      )
    }
    await assert.rejects(checkOverlay(file, { ...ours, backing: 'template' }), TypeError)
  },
)

test('an overlay without a backing format is rejected, because QEMU would guess it', async () => {
  await using directory = await temporaryDirectory()
  const file = directory.at('disk')
  await writeFile(file, qcow2Image({ backing: '/template' }))
  await assert.rejects(
    checkOverlay(file, { backing: '/template', backingFormat: 'raw' }),
    refusal(/backing format is missing/),
  )
  await assert.rejects(
    checkImage(file, { backing: { allowed: '/template' } }),
    refusal(/is missing/),
  )
})

test('a header is parsed field by field', () => {
  const header = parseQcow2(qcow2Image({ backing: '/a', extensions: [[0xe2792aca, 'raw']] }))
  assert.equal(header.version, 3)
  assert.equal(header.clusterBits, 9)
  assert.equal(header.virtualBytes, BigInt(VIRTUAL_BYTES))
  assert.equal(header.l1Offset, 1536n)
  assert.equal(header.backingFile, '/a')
  assert.equal(header.backingFormat, 'raw')
})
