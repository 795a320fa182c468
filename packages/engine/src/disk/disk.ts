import { chmod, link, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { renameDurably, syncDirectory } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { readQcow2 } from '@skerry/image'

import { PRIVATE_FILE } from '../host/private-files.ts'
import { runTool } from '../host/tool.ts'
import { emptyQcow2, HEAD_BYTES, isUnfinished } from './empty-qcow2.ts'

/**
 * A disk is a chain of layers in the VM's own directory:
 *
 *   layer-0.qcow2 ◀── layer-1.qcow2 ◀── layer-2.qcow2   only the last one is written to
 *
 * A lower layer is a hard link, shared with the template or with the VM it was cloned from: its
 * data is freed with its last user, and it cannot be removed while an overlay needs it. Layers
 * refer to each other without a directory, so a chain is valid in every directory it is linked to.
 */
export type Layers = readonly [top: string, ...below: string[]]

/** A longer chain slows every read. A disk that reaches this length is copied, or merged into one layer first. */
export const LAYERS_MAX = 8

/** Numbers only increase, by one for each clone made while the VM runs. */
const LAYER = /^layer-(\d{1,6})\.qcow2$/
/** The guest's data is in an external file (qcow2 specification, incompatible features). */
const DATA_FILE_BIT = 4n
const COPY_TIMEOUT_MS = 3_600_000

const layerName = (number: number): string => `layer-${number}.qcow2`
const layerNumber = (file: string): number => Number(LAYER.exec(basename(file))?.[1] ?? Number.NaN)

/** The chain below a layer, parsed from the headers by our own code and checked to lie in the VM's directory. */
export async function readLayers(top: string): Promise<Layers> {
  const layers: [string, ...string[]] = [top]
  for (let file = top; ;) {
    const { backingFile, backingFormat, incompatible } = await readLayer(file)
    if ((incompatible & DATA_FILE_BIT) !== 0n) throw notOurs(file)
    if (backingFile === undefined) return layers
    if (!LAYER.test(backingFile) || backingFormat !== 'qcow2' || layers.length > LAYERS_MAX) {
      throw notOurs(file)
    }
    if (layerNumber(backingFile) >= layerNumber(file)) throw notOurs(file)
    file = join(dirname(top), backingFile)
    layers.push(file)
  }
}

/** A missing layer is not a missing VM. */
async function readLayer(file: string): ReturnType<typeof readQcow2> {
  try {
    return await readQcow2(file)
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.kind !== 'not-found') throw cause
    throw new Fault('unavailable', `the disk file ${file} is missing`, {
      cause,
      hint: 'restore it from a backup, or delete the VM',
    })
  }
}

/** Links every layer into another directory; the chain is valid there as well. */
export async function linkLayers(layers: readonly string[], directory: string): Promise<Layers> {
  for (const file of layers) await link(file, join(directory, basename(file)))
  await syncDirectory(directory)
  return layers.map((file) => join(directory, basename(file))) as unknown as Layers
}

/** Links a template's image as the lowest layer of a new VM. */
export async function linkBase(image: string, directory: string): Promise<Layers> {
  const base = join(directory, layerName(0))
  await link(image, base)
  await syncDirectory(directory)
  return [base]
}

/** Adds an empty layer on top; all later writes go there. */
export async function addLayer([top, ...below]: Layers, virtualBytes?: number): Promise<Layers> {
  const file = join(dirname(top), layerName(layerNumber(top) + 1))
  const bytes = virtualBytes ?? Number((await readQcow2(top)).virtualBytes)
  await make(file, () => writeNew(file, emptyQcow2(bytes, basename(top))))
  return [file, top, ...below]
}

/** Creates an empty disk without a backing file, for data that comes from elsewhere. */
export async function makeEmptyLayer(directory: string, virtualBytes: number): Promise<Layers> {
  const file = join(directory, layerName(0))
  await make(file, () => writeNew(file, emptyQcow2(virtualBytes)))
  return [file]
}

/** Copies all layers into one file without a backing file. */
export async function copyLayers([top]: Layers, directory: string): Promise<Layers> {
  const file = join(directory, layerName(0))
  const unfinished = `${file}.tmp`
  const words = ['convert', '-q', '-f', 'qcow2', '-O', 'qcow2', top, unfinished]
  await make(unfinished, async () => {
    // qemu-img keeps the mode of an existing file.
    await writeNew(unfinished, '')
    await runTool('qemu-img', words, { timeoutMs: COPY_TIMEOUT_MS })
  })
  await renameDurably(unfinished, file)
  return [file]
}

/** The maximum size of a full copy. */
export async function allocatedBytes(layers: Layers): Promise<number> {
  const sizes = await Promise.all(layers.map(async (file) => (await stat(file)).blocks * 512))
  return sizes.reduce((sum, size) => sum + size, 0)
}

export async function virtualBytes([top]: Layers): Promise<number> {
  return Number((await readQcow2(top)).virtualBytes)
}

export async function growDisk([top]: Layers, bytes: number): Promise<void> {
  await runTool('qemu-img', ['resize', '-q', '-f', 'qcow2', top, String(bytes)])
}

/** Whether the layer itself holds data. Nothing used a layer that was not written to its end: a crash came before. */
export async function hasData(top: string): Promise<boolean> {
  if (await wasCutShort(top)) return false
  const map = await runTool('qemu-img', ['map', '-f', 'qcow2', '--output=json', top])
  const parts = JSON.parse(map) as {
    depth: number
    present?: boolean
    zero: boolean
    data: boolean
  }[]
  return parts.some(
    ({ depth, present, data, zero }) => depth === 0 && (data || zero) && present !== false,
  )
}

async function wasCutShort(file: string): Promise<boolean> {
  await using handle = await open(file)
  const head = Buffer.alloc(HEAD_BYTES)
  const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0)
  return isUnfinished(head.subarray(0, bytesRead), (await handle.stat()).size)
}

/** Layers in the directory above the active one, lowest first. */
export async function layersAbove(top: string): Promise<string[]> {
  const names = await readdir(dirname(top))
  return names
    .filter((name) => layerNumber(name) > layerNumber(top))
    .sort((a, b) => layerNumber(a) - layerNumber(b))
    .map((name) => join(dirname(top), name))
}

/** Layers in the directory below the active one that are not part of its chain. */
export async function layersLeftBelow(layers: Layers): Promise<string[]> {
  const [top] = layers
  const names = await readdir(dirname(top))
  return names
    .filter((name) => layerNumber(name) < layerNumber(top))
    .map((name) => join(dirname(top), name))
    .filter((file) => !layers.includes(file))
}

/** An existing file would keep its mode, hence the chmod. */
async function writeNew(file: string, content: Uint8Array | string): Promise<void> {
  await writeFile(file, content, { mode: PRIVATE_FILE })
  await chmod(file, PRIVATE_FILE)
}

/** When this returns, the file survives a power cut. */
async function make(file: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
    await using handle = await open(file, 'r')
    await handle.sync()
    await syncDirectory(dirname(file))
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

function notOurs(file: string): Fault {
  return new Fault('image-refused', `the disk ${file} has a backing file outside its VM’s layers`, {
    hint: 'it was modified externally; restore it from a backup',
  })
}
