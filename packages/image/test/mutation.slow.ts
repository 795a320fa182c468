import assert from 'node:assert/strict'
import { ftruncateSync, writeSync } from 'node:fs'
import { open, readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { checkImage, checkOverlay, readQcow2, type ImageVerdict } from '@skerry/image'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { qcow2Image } from './qcow2-image.ts'
import { imageInfo, qemuImg, withoutQemuImg } from './qemu-img.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const BACKING = '/backing/of/ours'
const SAMPLE = 60

const extremes = [0, 1, 2, 3, 4, 8, 9, 16, 21, 64, 72, 104, 112, 255, 511, 512, 513, 1024, 65_536]

/** One to three mutations of the header: a bit, a byte, or a boundary value. */
function injure(below: (end: number) => number, image: Buffer): Buffer {
  const injured = Buffer.from(image)
  for (let left = 1 + below(3); left > 0; left -= 1) {
    const at = below(200)
    const kind = below(4)
    if (kind === 0) injured.writeUInt8(injured.readUInt8(at) ^ (1 << below(8)), at)
    else if (kind === 1) injured.writeUInt8(below(256), at)
    else if (kind === 2) injured.writeUInt32BE(extremes[below(extremes.length)] ?? 0, at - (at % 4))
    else injured.writeBigUInt64BE(BigInt(extremes[below(extremes.length)] ?? 0), at - (at % 8))
  }
  return injured
}

/** Runs `check` on mutated copies of the images and returns those it accepted. */
async function acceptedAfterInjury(
  images: readonly Buffer[],
  rounds: number,
  file: string,
  check: (file: Awaited<ReturnType<typeof open>>) => Promise<ImageVerdict>,
): Promise<Map<string, Buffer>> {
  const { below } = seededRandom(rounds)
  const accepted = new Map<string, Buffer>()
  await using handle = await open(file, 'w+')
  for (let round = 0; round < rounds; round += 1) {
    const injured = injure(below, images[round % images.length] ?? Buffer.alloc(512))
    writeSync(handle.fd, injured, 0, injured.length, 0)
    ftruncateSync(handle.fd, injured.length)
    try {
      const { format, virtualBytes } = await check(handle)
      assert(Number.isSafeInteger(virtualBytes) && virtualBytes % 512 === 0)
      if (format === 'qcow2') accepted.set(injured.toString('latin1'), injured)
    } catch (error) {
      assert(
        error instanceof Fault && error.kind === 'image-refused',
        injured.toString('hex', 0, 200),
      )
    }
  }
  return accepted
}

function sampleOf<T>(all: Iterable<T>, size: number): T[] {
  const list = [...all]
  const step = Math.max(1, Math.floor(list.length / size))
  return list.filter((_, index) => index % step === 0).slice(0, size)
}

const featureNames = [0x6803f857, Buffer.alloc(48)] as const
const plain = [
  qcow2Image(),
  qcow2Image({ version: 2 }),
  qcow2Image({ extensions: [featureNames] }),
  qcow2Image({ u8: { 104: 1 }, u64: { 72: 8n } }),
  qcow2Image({ u32: { 100: 104 } }),
]

test('20,000 mutated headers are accepted or rejected, and QEMU finds no other file in an accepted one', async (t) => {
  await using directory = await temporaryDirectory()
  const file = directory.at('disk')
  const accepted = await acceptedAfterInjury(plain, 20_000, file, (handle) => checkImage(handle))
  assert(accepted.size > 500, `${accepted.size} accepted`)
  if (withoutQemuImg !== false) return t.skip(withoutQemuImg)

  await Promise.all(
    sampleOf(accepted.values(), SAMPLE).map(async (image, index) => {
      const file = directory.at(`accepted-${index}`)
      await writeFile(file, image)
      const info = await imageInfo(file, 'qcow2')
      assert.equal(info['backing-filename'], undefined)
      assert.equal(info['format-specific']?.data['data-file'], undefined)
      assert.equal((await checkImage(file)).virtualBytes, info['virtual-size'])
    }),
  )
})

test('a mutated overlay is accepted only if QEMU sees our backing file in it', async (t) => {
  await using directory = await temporaryDirectory()
  const file = directory.at('disk')
  const overlays = [2, 3].map((version) =>
    qcow2Image({
      version: version === 2 ? 2 : 3,
      backing: BACKING,
      extensions: [featureNames, [0xe2792aca, 'qcow2']],
    }),
  )
  const ours = { backing: BACKING, backingFormat: 'qcow2' } as const
  const accepted = await acceptedAfterInjury(overlays, 4_000, file, (handle) =>
    checkOverlay(handle, ours),
  )
  assert(accepted.size > 50, `${accepted.size} accepted`)
  if (withoutQemuImg !== false) return t.skip(withoutQemuImg)

  await Promise.all(
    sampleOf(accepted.values(), SAMPLE / 3).map(async (image, index) => {
      const file = directory.at(`accepted-${index}`)
      await writeFile(file, image)
      const info = await imageInfo(file, 'qcow2')
      assert.equal(info['backing-filename'], BACKING)
      assert.equal(info['backing-filename-format'], 'qcow2')
      assert.equal(info['format-specific']?.data['data-file'], undefined)
    }),
  )
})

test(
  'a mutated image with snapshots by qemu-img is accepted or rejected',
  { skip: withoutQemuImg },
  async () => {
    await using directory = await temporaryDirectory()
    const images = await Promise.all(
      ['cluster_size=4k', 'cluster_size=4k,compat=0.10'].map(async (options) => {
        const file = directory.at(options)
        await qemuImg('create', '-q', '-f', 'qcow2', '-o', options, file, '1G')
        await qemuImg('snapshot', '-c', 'one', file)
        assert.equal((await readQcow2(file)).snapshots, 1)
        return readFile(file)
      }),
    )
    const check = (handle: Awaited<ReturnType<typeof open>>) =>
      checkImage(handle, { snapshots: true })
    const accepted = await acceptedAfterInjury(images, 1_000, directory.at('disk'), check)
    assert(accepted.size > 0)
  },
)
