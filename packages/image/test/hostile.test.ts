import assert from 'node:assert/strict'
import { readdir, mkdir, readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'

import { hostileImages } from './hostile-images.ts'
import { qemuImg, withoutQemuImg } from './qemu-img.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const CANARY = 'the canary sings '
const canaryContent = Buffer.alloc(64 * 1024, CANARY)

/** As an import does: the file is checked, and only then opened by a tool with an explicit format. */
async function convertChecked(file: string, output: string): Promise<void> {
  const { format } = await checkImage(file)
  await qemuImg('convert', '-f', format, '-O', 'raw', file, output)
}

for (const { about, image, reason, rules } of hostileImages('/canary')) {
  test(`rejected: ${about}`, async () => {
    await using directory = await temporaryDirectory()
    await writeFile(directory.at('disk'), image)
    await assert.rejects(checkImage(directory.at('disk'), rules), (error) => {
      assert(error instanceof Fault)
      assert.equal(error.kind, 'image-refused')
      assert.match(error.message, reason)
      assert.doesNotMatch(error.message, /canary|disk$/)
      return true
    })
  })
}

test('there are at least 60 hostile images', () => {
  assert(hostileImages('/canary').length >= 60)
})

type Maker = (file: string, canary: string) => Promise<unknown>

const byQemuImg =
  (...words: readonly string[]): Maker =>
  (file, canary) =>
    qemuImg('create', '-q', ...words.map((word) => word.replace('CANARY', canary)), file, '64k')

const descriptor = (canary: string) =>
  `# Disk DescriptorFile
version=1
CID=fffffffe
parentCID=ffffffff
createType="monolithicFlat"
RW 128 FLAT "${canary}" 0
`

const json = 'json:{"driver":"raw","file":{"driver":"file","filename":"CANARY"}}'

// How an unchecked tool would open each image: with the declared format, or by guessing.
const leaks: Readonly<Record<string, { make: Maker; open: readonly string[] }>> = {
  'a backing file': {
    make: byQemuImg('-u', '-f', 'qcow2', '-b', 'CANARY', '-F', 'raw'),
    open: ['-f', 'qcow2'],
  },
  'a backing file in version 2': {
    make: byQemuImg('-u', '-f', 'qcow2', '-o', 'compat=0.10', '-b', 'CANARY', '-F', 'raw'),
    open: ['-f', 'qcow2'],
  },
  'a backing file as JSON': {
    make: byQemuImg('-u', '-f', 'qcow2', '-b', json, '-F', 'raw'),
    open: ['-f', 'qcow2'],
  },
  'a backing file by file:': {
    make: byQemuImg('-u', '-f', 'qcow2', '-b', 'file:CANARY', '-F', 'raw'),
    open: ['-f', 'qcow2'],
  },
  'a raw disk that a tool guesses to be qcow2': {
    make: byQemuImg('-u', '-f', 'qcow2', '-b', 'CANARY', '-F', 'raw'),
    open: [],
  },
  'a data file': {
    make: byQemuImg('-f', 'qcow2', '-o', 'data_file=CANARY,data_file_raw=on'),
    open: ['-f', 'qcow2'],
  },
  'QED with a backing file': {
    make: byQemuImg('-u', '-f', 'qed', '-b', 'CANARY', '-F', 'raw'),
    open: [],
  },
  'qcow with a backing file': {
    make: byQemuImg('-u', '-f', 'qcow', '-b', 'CANARY', '-F', 'raw'),
    open: [],
  },
  'a VMDK descriptor': { make: (file, canary) => writeFile(file, descriptor(canary)), open: [] },
}

for (const [what, { make, open }] of Object.entries(leaks)) {
  test(
    `${what} leaks without the check, and does not with it`,
    { skip: withoutQemuImg },
    async () => {
      await using directory = await temporaryDirectory()
      const [file, canary] = [directory.at('disk'), directory.at('canary')]
      await make(file, canary)
      // Written last, because creating an image with a data file truncates that file.
      await writeFile(canary, canaryContent)

      await qemuImg('convert', ...open, '-O', 'raw', file, directory.at('leaked'))
      assert(
        (await readFile(directory.at('leaked'))).includes(CANARY),
        'the canary would not have leaked',
      )

      await assert.rejects(
        convertChecked(file, directory.at('converted')),
        (error) => error instanceof Fault && error.kind === 'image-refused',
      )
      assert.deepEqual((await readdir(directory.at('.'))).sort(), ['canary', 'disk', 'leaked'])
    },
  )
}

test(
  'no hostile image reveals the canary through a conversion that checks first',
  { skip: withoutQemuImg },
  async () => {
    await using directory = await temporaryDirectory()
    const [file, canary, outputs] = [
      directory.at('disk'),
      directory.at('canary'),
      directory.at('outputs'),
    ]
    await mkdir(outputs)
    await writeFile(canary, canaryContent)
    let converted = 0
    for (const [index, { image, rules }] of hostileImages(canary).entries()) {
      await writeFile(file, image)
      try {
        await convertChecked(file, `${outputs}/${index}`)
        // Some are hostile only because of their rules, and plain images otherwise.
        assert(rules !== undefined)
        converted += 1
      } catch (error) {
        assert(error instanceof Fault && error.kind === 'image-refused')
      }
    }
    const names = await readdir(outputs)
    assert.equal(names.length, converted)
    for (const name of names) {
      assert(!(await readFile(`${outputs}/${name}`)).includes(CANARY))
    }
  },
)
