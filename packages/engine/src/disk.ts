import { link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'
import { readQcow2 } from '@skerry/image'

import { emptyQcow2 } from './empty-qcow2.ts'
import { syncDirectory } from './record.ts'
import { runTool } from './tool.ts'

/**
 * A disk is a chain of layers in the VM's own directory:
 *
 *   layer-0.qcow2 ◀── layer-1.qcow2 ◀── layer-2.qcow2   the last is written to, the others never
 *
 * A lower layer is a hard link, shared with the template or with the VM it was cloned from: it
 * goes with its last user, and nobody can take it away from under an overlay. Layers name each
 * other without a directory, so a chain means the same in every directory it is linked into.
 */
export type Layers = readonly [top: string, ...below: string[]]

/** A longer chain costs every read; a disk that has grown to it is copied, or made one layer first. */
export const LAYERS_MAX = 8

/** Numbers only rise, by one for each clone that is made while the VM runs. */
const LAYER = /^layer-(\d{1,6})\.qcow2$/
/** The guest's bytes are in a file elsewhere (qcow2 specification, incompatible features). */
const DATA_FILE_BIT = 4n
const COPY_TIMEOUT_MS = 3_600_000

const layerName = (number: number): string => `layer-${number}.qcow2`
const layerNumber = (file: string): number => Number(LAYER.exec(basename(file))?.[1] ?? Number.NaN)

/** The chain below a layer, read from the headers by our own code and held to lie where we put it. */
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

/** A layer that is missing is not a VM that is. */
async function readLayer(file: string): ReturnType<typeof readQcow2> {
  try {
    return await readQcow2(file)
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.kind !== 'not-found') throw cause
    throw new Fault('unavailable', `the disk ${file} is not there`, {
      cause,
      hint: 'put it back from a backup, or delete the VM',
    })
  }
}

/** Links every layer into another directory, where the same chain then stands. */
export async function linkLayers(layers: readonly string[], directory: string): Promise<Layers> {
  for (const file of layers) await link(file, join(directory, basename(file)))
  await syncDirectory(directory)
  return layers.map((file) => join(directory, basename(file))) as unknown as Layers
}

/** A template's image as the lowest layer of a new VM. */
export async function linkBase(image: string, directory: string): Promise<Layers> {
  const base = join(directory, layerName(0))
  await link(image, base)
  await syncDirectory(directory)
  return [base]
}

/** A new, empty layer on top; all that is written from then on goes there. */
export async function addLayer([top, ...below]: Layers, virtualBytes?: number): Promise<Layers> {
  const file = join(dirname(top), layerName(layerNumber(top) + 1))
  const bytes = virtualBytes ?? Number((await readQcow2(top)).virtualBytes)
  await make(file, () => writeFile(file, emptyQcow2(bytes, basename(top))))
  return [file, top, ...below]
}

/** An empty disk of its own, for bytes that come from elsewhere. */
export async function makeEmptyLayer(directory: string, virtualBytes: number): Promise<Layers> {
  const file = join(directory, layerName(0))
  await make(file, () => writeFile(file, emptyQcow2(virtualBytes)))
  return [file]
}

/** All layers in one file that stands on nothing. */
export async function copyLayers([top]: Layers, directory: string): Promise<Layers> {
  const file = join(directory, layerName(0))
  const unfinished = `${file}.tmp`
  const words = ['convert', '-q', '-f', 'qcow2', '-O', 'qcow2', top, unfinished]
  await make(unfinished, () => runTool('qemu-img', words, { timeoutMs: COPY_TIMEOUT_MS }))
  await rename(unfinished, file)
  await syncDirectory(directory)
  return [file]
}

/** Bytes that a full copy may take at most. */
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

/** Whether something was written to the layer itself. */
export async function hasData(top: string): Promise<boolean> {
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

/** Layers in the directory that stand above the one that is written to, lowest first. */
export async function layersAbove(top: string): Promise<string[]> {
  const names = await readdir(dirname(top))
  return names
    .filter((name) => layerNumber(name) > layerNumber(top))
    .sort((a, b) => layerNumber(a) - layerNumber(b))
    .map((name) => join(dirname(top), name))
}

/** Layers in the directory that stand below the one that is written to, but that it does not stand on. */
export async function layersLeftBelow(layers: Layers): Promise<string[]> {
  const [top] = layers
  const names = await readdir(dirname(top))
  return names
    .filter((name) => layerNumber(name) < layerNumber(top))
    .map((name) => join(dirname(top), name))
    .filter((file) => !layers.includes(file))
}

/** When this returns, a power cut no longer takes the file away. */
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
  return new Fault('image-refused', `the disk ${file} does not stand on layers of its own VM`, {
    hint: 'it was changed from outside; put it back from a backup',
  })
}
