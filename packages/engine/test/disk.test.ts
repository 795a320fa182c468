// Goal: layers form chains as described in disk.ts, and a base is removed with its last user.
// Method: the real qemu-img, called through our code and directly.
import assert from 'node:assert/strict'
import { link, mkdir, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { imageInfo, qemuImg, withoutQemuImg as skip } from '../../image/test/qemu-img.ts'
import {
  addLayer,
  copyLayers,
  growDisk,
  hasData,
  layersAbove,
  LAYERS_MAX,
  linkBase,
  linkLayers,
  makeEmptyLayer,
  readLayers,
  virtualBytes,
  type Layers,
} from '../src/disk/disk.ts'
import { runTool } from '../src/host/tool.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const MIB = 1024 ** 2

async function workshop() {
  const directory = await temporaryDirectory()
  const image = directory.at('template.qcow2')
  await qemuImg('create', '-q', '-f', 'qcow2', image, '8M')
  await write(image, 'A', 0)
  return {
    image,
    at: directory.at,
    async vm(name: string) {
      await mkdir(directory.at(name))
      return directory.at(name)
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  }
}

const write = (file: string, letter: string, megabyte: number) => {
  const command = `write -q -P ${letter.charCodeAt(0)} ${megabyte}M 64k`
  return runTool('qemu-io', ['-f', 'qcow2', '-c', command, file])
}
/** Fails if the bytes differ. */
const reads = async (file: string, letter: string, megabyte: number): Promise<void> => {
  const command = `read -q -P ${letter.charCodeAt(0)} ${megabyte}M 64k`
  const said = await runTool('qemu-io', ['-f', 'qcow2', '-c', command, file])
  assert.equal(said, '')
}
const names = (layers: Layers) => layers.map((file) => file.replace(/.*\//, ''))
const links = async (file: string) => (await stat(file)).nlink

test('a VM’s disk is its own layer on a link to the template', { skip }, async () => {
  await using shop = await workshop()
  const base = await linkBase(shop.image, await shop.vm('a'))
  const layers = await addLayer(base, 32 * MIB)
  assert.deepEqual(names(layers), ['layer-1.qcow2', 'layer-0.qcow2'])
  assert.deepEqual(await readLayers(layers[0]), layers)
  assert.equal(await virtualBytes(layers), 32 * MIB)
  assert.equal(await links(shop.image), 2)
  const info = await imageInfo(layers[0], 'qcow2')
  assert.equal(info['backing-filename'], 'layer-0.qcow2')
  assert.equal(info['backing-filename-format'], 'qcow2')
  await reads(layers[0], 'A', 0)
})

test(
  'two VMs on one template write separately, and the template is unchanged',
  { skip },
  async () => {
    await using shop = await workshop()
    const a = await addLayer(await linkBase(shop.image, await shop.vm('a')))
    const b = await addLayer(await linkBase(shop.image, await shop.vm('b')))
    await write(a[0], 'X', 0)
    await reads(a[0], 'X', 0)
    await reads(b[0], 'A', 0)
    await reads(shop.image, 'A', 0)
  },
)

test('a base is removed with its last user', { skip }, async () => {
  await using shop = await workshop()
  const parent = await addLayer(await linkBase(shop.image, await shop.vm('parent')))
  await write(parent[0], 'P', 1)
  // Freeze: the parent's active layer becomes the base of both.
  const above = await addLayer(parent)
  const child = await addLayer(await linkLayers(parent, await shop.vm('child')))
  assert.deepEqual(names(child), names(above))
  assert.deepEqual(await Promise.all(child.map(links)), [1, 2, 3])
  await write(above[0], 'Q', 1)
  await reads(child[0], 'P', 1)

  await rm(shop.image)
  await rm(shop.at('parent'), { recursive: true })
  assert.deepEqual(await Promise.all(child.map(links)), [1, 1, 1])
  await reads(child[0], 'P', 1)
  await reads(child[0], 'A', 0)
  assert.deepEqual(await readLayers(child[0]), child)
  await qemuImg('check', '-q', '-f', 'qcow2', child[0])
})

test('an empty layer of any size is accepted by QEMU and consistent', { skip }, async () => {
  await using shop = await workshop()
  const sizes = [1, 8, 513, 32 * 1024, 2 * 1024 ** 2].map((mebibytes) => mebibytes * MIB)
  for (const [index, bytes] of sizes.entries()) {
    const [alone] = await makeEmptyLayer(await shop.vm(`alone-${index}`), bytes)
    const base = await linkBase(shop.image, await shop.vm(`stacked-${index}`))
    const [stacked] = await addLayer(base, Math.max(bytes, 8 * MIB))
    for (const file of [alone, stacked]) {
      await qemuImg('check', '-q', '-f', 'qcow2', file)
      assert.equal((await imageInfo(file, 'qcow2'))['virtual-size'] >= bytes, true)
      await write(file, 'W', Math.floor((bytes - 1) / MIB))
      await reads(file, 'W', Math.floor((bytes - 1) / MIB))
      await qemuImg('check', '-q', '-f', 'qcow2', file)
    }
    await reads(stacked, index === 0 ? 'W' : 'A', 0)
  }
})

test('a chain is valid in every directory', { skip }, async () => {
  await using shop = await workshop()
  const [top] = await addLayer(await linkBase(shop.image, await shop.vm('a')))
  await rename(shop.at('a'), shop.at('b'))
  const moved = top.replace('/a/', '/b/')
  assert.equal((await readLayers(moved)).length, 2)
  await reads(moved, 'A', 0)
})

test('a copy is one file without a backing file', { skip }, async () => {
  await using shop = await workshop()
  const layers = await addLayer(await linkBase(shop.image, await shop.vm('a')), 16 * MIB)
  await write(layers[0], 'X', 12)
  const copy = await copyLayers(layers, await shop.vm('b'))
  assert.deepEqual(names(copy), ['layer-0.qcow2'])
  assert.deepEqual(await readLayers(copy[0]), copy)
  await rm(shop.at('a'), { recursive: true })
  await reads(copy[0], 'X', 12)
  await reads(copy[0], 'A', 0)
  await growDisk(copy, 64 * MIB)
  assert.equal(await virtualBytes(copy), 64 * MIB)
  assert.deepEqual(await readdir(shop.at('b')), ['layer-0.qcow2'])
})

test('only data written to the layer itself counts as its data', { skip }, async () => {
  await using shop = await workshop()
  const layers = await addLayer(await linkBase(shop.image, await shop.vm('a')), 32 * MIB)
  assert.equal(await hasData(layers[0]), false)
  await write(layers[0], 'X', 20)
  assert.equal(await hasData(layers[0]), true)
  const zeroed = await addLayer(layers)
  assert.equal(await hasData(zeroed[0]), false)
  // Explicit zeros are data written by a guest, too.
  await runTool('qemu-io', ['-f', 'qcow2', '-c', 'write -q -z 20M 64k', zeroed[0]])
  assert.equal(await hasData(zeroed[0]), true)
})

test('a layer that was not written to its end holds no data', { skip }, async () => {
  await using shop = await workshop()
  const [top] = await addLayer(await linkBase(shop.image, await shop.vm('a')), 1024 * MIB)
  const { size } = await stat(top)
  for (const bytes of [size - 1, 3 * 65536, 65536, 4096, 112, 31, 4, 0]) {
    await truncate(top, bytes)
    assert.equal(await hasData(top), false, `${bytes} bytes`)
  }
  // A power cut may leave a file with its length and without its content.
  await truncate(top, size)
  assert.equal(await hasData(top), false)
  // What is damaged may have held data: it is not taken for an empty one.
  await writeFile(top, Buffer.alloc(size, 'x'))
  await assert.rejects(hasData(top), /qemu-img failed/)
})

test('layers above the active one are found, lowest first', { skip }, async () => {
  await using shop = await workshop()
  const directory = await shop.vm('a')
  const one = await makeEmptyLayer(directory, MIB)
  const two = await addLayer(one)
  const three = await addLayer(two)
  await writeFile(`${directory}/layer-9.qcow2.tmp`, '')
  await writeFile(`${directory}/seed.img`, '')
  assert.deepEqual(await layersAbove(one[0]), [two[0], three[0]])
  assert.deepEqual(await layersAbove(three[0]), [])
})

test('a disk with a backing file outside its VM’s layers is rejected', { skip }, async () => {
  await using shop = await workshop()
  const directory = await shop.vm('a')
  await link(shop.image, `${directory}/layer-0.qcow2`)
  await link(shop.image, `${directory}/layer-5.qcow2`)
  await link(shop.image, `${directory}/other.qcow2`)
  const top = `${directory}/layer-3.qcow2`
  const foreign: readonly (readonly string[])[] = [
    ['-b', shop.image, '-F', 'qcow2'],
    ['-b', '/etc/passwd', '-F', 'raw'],
    ['-b', '../a/layer-0.qcow2', '-F', 'qcow2'],
    ['-b', './layer-0.qcow2', '-F', 'qcow2'],
    ['-b', `${directory}/layer-0.qcow2`, '-F', 'qcow2'],
    ['-b', 'other.qcow2', '-F', 'qcow2'],
    // A format other than ours would let the guest name its own base.
    ['-b', 'layer-0.qcow2', '-F', 'raw'],
    ['-b', 'json:{"file.filename":"layer-0.qcow2"}', '-F', 'qcow2'],
    // Numbers in a chain decrease, so that it ends.
    ['-b', 'layer-5.qcow2', '-F', 'qcow2'],
    ['-b', 'layer-3.qcow2', '-F', 'qcow2'],
    ['-o', `data_file=${directory}/data.raw`],
  ]
  for (const words of foreign) {
    await rm(top, { force: true })
    const unchecked = words[0] === '-b' ? ['-u'] : []
    await qemuImg('create', '-q', ...unchecked, '-f', 'qcow2', ...words, top, '8M')
    await assert.rejects(readLayers(top), { kind: 'image-refused' }, words.join(' '))
  }
  await writeFile(top, 'not qcow2 at all'.repeat(64))
  await assert.rejects(readLayers(top), { kind: 'image-refused' })
})

test('a chain that is too long is rejected', { skip }, async () => {
  await using shop = await workshop()
  let layers = await linkBase(shop.image, await shop.vm('a'))
  while (layers.length <= LAYERS_MAX) layers = await addLayer(layers)
  assert.deepEqual(await readLayers(layers[0]), layers)
  layers = await addLayer(layers)
  await assert.rejects(readLayers(layers[0]), { kind: 'image-refused' })
})

test('a failed creation leaves no file', { skip }, async () => {
  await using shop = await workshop()
  const directory = await shop.vm('a')
  const nothing: Layers = [`${directory}/layer-0.qcow2`]
  await assert.rejects(addLayer(nothing), { name: 'Fault' })
  await assert.rejects(copyLayers(nothing, directory), { kind: 'unavailable' })
  await assert.rejects(linkBase(shop.at('nowhere'), directory), { code: 'ENOENT' })
  assert.deepEqual(await readdir(directory), [])
})
