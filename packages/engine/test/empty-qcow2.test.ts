// Goal: a disk layer that we write ourselves equals one by qemu-img. Method: compare both with qemu-img.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { readQcow2 } from '@skerry/image'

import { emptyQcow2 } from '../src/disk/empty-qcow2.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const skip = existsSync('/usr/bin/qemu-img') ? false : 'needs qemu-utils: npm run setup'
const MIB = 1024 ** 2

async function qemuImg(...words: readonly string[]): Promise<string> {
  return (await promisify(execFile)('qemu-img', words)).stdout
}

async function describe(file: string): Promise<Record<string, unknown>> {
  const words = ['info', '-f', 'qcow2', '--output=json', file]
  const said = JSON.parse(await qemuImg(...words)) as Record<string, unknown>
  const { filename: _, 'actual-size': __, ...facts } = said
  return facts
}

for (const bytes of [512, MIB, 512 * MIB, 513 * MIB, 2 * MIB * MIB, 5 * MIB * MIB]) {
  test(`an empty layer of ${bytes} bytes equals one by qemu-img`, { skip }, async () => {
    await using directory = await temporaryDirectory()
    const base = directory.at('layer-0.qcow2')
    const [ours, theirs] = [directory.at('ours'), directory.at('theirs')]
    await writeFile(base, emptyQcow2(bytes))
    await writeFile(ours, emptyQcow2(bytes, 'layer-0.qcow2'))
    await qemuImg('create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', 'layer-0.qcow2', theirs)

    for (const file of [base, ours]) await qemuImg('check', '-q', '-f', 'qcow2', file)
    assert.deepEqual(await describe(ours), await describe(theirs))
    const [{ backingFile, virtualBytes }, { backingFile: none }] = await Promise.all([
      readQcow2(ours),
      readQcow2(base),
    ])
    assert.deepEqual([backingFile, Number(virtualBytes), none], ['layer-0.qcow2', bytes, undefined])
  })
}

test(
  'a layer can be larger than its backing file, and holds what is written to it',
  { skip },
  async () => {
    await using directory = await temporaryDirectory()
    const [base, top] = [directory.at('layer-0.qcow2'), directory.at('layer-1.qcow2')]
    await writeFile(base, emptyQcow2(MIB))
    await writeFile(top, emptyQcow2(4 * MIB, 'layer-0.qcow2'))
    const io = (file: string, ...commands: readonly string[]) =>
      promisify(execFile)('qemu-io', [
        '-f',
        'qcow2',
        ...commands.flatMap((each) => ['-c', each]),
        file,
      ])
    await io(base, 'write -P 1 0 64k')
    await io(top, 'write -P 2 3M 1M')

    const { stdout } = await io(top, 'read -P 1 0 64k', 'read -P 0 64k 2M', 'read -P 2 3M 1M')
    assert.doesNotMatch(stdout, /failed/)
    await qemuImg('check', '-q', '-f', 'qcow2', top)
  },
)
