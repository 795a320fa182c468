import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chown, readFile, symlink } from 'node:fs/promises'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { qemuImg } from '../../image/test/qemu-img.ts'
import { importTemplate, listTemplates } from '../src/disk/template.ts'
import { startEmulatedHost } from './emulated-host.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const skip = reasonToSkip('host') ?? false
const SOMEBODY = 12_345

test(
  'a file is imported only for its owner or root, and not revealed to others',
  { skip },
  async () => {
    await using emulated = await startEmulatedHost()
    await using directory = await temporaryDirectory()
    const { host } = emulated
    const file = directory.at('image')
    await qemuImg('create', '-q', '-f', 'qcow2', file, '32M')
    await symlink(file, directory.at('link'))
    const asSomebody = (path: string) => importTemplate(host, 'theirs', path, { uid: SOMEBODY })
    for (const path of [
      file,
      directory.at('link'),
      directory.at('none'),
      directory.path,
      '/dev/null',
    ])
      await assert.rejects(asSomebody(path), {
        kind: 'invalid',
        message: `no file ${path} owned by you`,
      })
    await chown(file, SOMEBODY, SOMEBODY)
    assert.equal((await asSomebody(directory.at('link'))).name, 'theirs')
    assert.equal((await importTemplate(host, 'ours', file, { uid: 0 })).name, 'ours')
  },
)

test('a file with another checksum is not imported', { skip }, async () => {
  await using emulated = await startEmulatedHost()
  await using directory = await temporaryDirectory()
  const { host } = emulated
  const file = directory.at('image')
  await qemuImg('create', '-q', '-f', 'raw', file, '8M')
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  const before = await listTemplates(host)
  const wrong = importTemplate(host, 'default', file, { sha256: 'f'.repeat(64), replace: true })
  await assert.rejects(wrong, { kind: 'image-refused', message: /SHA-256 is [0-9a-f]{64}, not f+/ })
  assert.deepEqual(await listTemplates(host), before)

  const options = { sha256: sha256.toUpperCase(), replace: true }
  const { virtualBytes } = await importTemplate(host, 'default', file, options)
  assert.equal(virtualBytes, 8 * 1024 ** 2)
  assert.deepEqual(
    (await listTemplates(host)).map((each) => [each.name, each.virtualBytes]),
    [['default', virtualBytes]],
  )
})
