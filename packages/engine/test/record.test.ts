import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { defaultPaths, recordFile, vmDirectory, type Paths } from '../src/host/paths.ts'
import { newRecord, Records, type VmRecord } from '../src/host/record.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const pathsIn = (directory: { at(name: string): string }): Paths => ({
  ...defaultPaths,
  data: directory.at('data'),
})

const recordOf = (id: string): VmRecord =>
  newRecord({
    id: id as VmId,
    owner: 'local',
    incarnation: '1',
    uuid: 'u',
    name: 'Näme <&>',
    tag: 'a\nb',
    createdAt: '2026-01-01T00:00:00.000Z',
    requested: '{}',
    autostart: true,
  })

test('a written record exists after a restart, a removed one does not', async () => {
  await using directory = await temporaryDirectory()
  const paths = pathsIn(directory)
  const records = await Records.load(paths)
  const folder = { guestPath: 'src', hostPath: '/srv/src', flags: 4 } as const
  const a = await records.write({ ...recordOf('a'), sharing: true, folders: [folder] })
  await records.write(recordOf('b'))
  await records.remove(recordOf('b'))
  await records.remove(recordOf('never-there'))
  const again = await Records.load(paths)
  assert.deepEqual(again.all(), [a])
  assert.equal(again.get('b'), undefined)
})

test('VMs of two owners with the same id are two VMs', async () => {
  await using directory = await temporaryDirectory()
  const paths = pathsIn(directory)
  const records = await Records.load(paths)
  const local = await records.write(recordOf('a'))
  const cloud = await records.write({ ...local, owner: 'cloud', name: 'theirs' })
  assert.notEqual(vmDirectory(paths, local), vmDirectory(paths, cloud))
  const again = await Records.load(paths)
  assert.deepEqual([again.get('a'), again.get('a', 'cloud')], [local, cloud])
  await again.remove(local)
  assert.deepEqual((await Records.load(paths)).all(), [cloud])
})

test('an interrupted write is dropped, and the previous record is valid', async () => {
  await using directory = await temporaryDirectory()
  const paths = pathsIn(directory)
  const a = await (await Records.load(paths)).write(recordOf('a'))
  await writeFile(directory.at('data/vms/.a.json.7.tmp'), '{"format": 1, "id": "a", "na')
  assert.deepEqual((await Records.load(paths)).all(), [a])
  assert.deepEqual(await readdir(directory.at('data/vms')), ['a.json'])
})

test('a record of an earlier version is read: its request has another name', async () => {
  await using directory = await temporaryDirectory()
  const paths = pathsIn(directory)
  const a = await (await Records.load(paths)).write(recordOf('a'))
  const { requested, ...rest } = a
  await writeFile(recordFile(paths, a), JSON.stringify({ ...rest, asked: requested }))
  assert.deepEqual((await Records.load(paths)).all(), [a])
})

const unreadable: Readonly<Record<string, string>> = {
  'invalid JSON': '{"format": 1, "id": "a"',
  nothing: '',
  null: 'null',
  'a list': '[]',
  'another format': JSON.stringify({ ...recordOf('a'), format: 2 }),
}

for (const [what, text] of Object.entries(unreadable)) {
  test(`a record that contains ${what} is a fault that names the file`, async () => {
    await using directory = await temporaryDirectory()
    const paths = pathsIn(directory)
    await (await Records.load(paths)).write(recordOf('good'))
    const file = recordFile(paths, recordOf('a'))
    await writeFile(file, text)
    await assert.rejects(Records.load(paths), (fault) => {
      assert(fault instanceof Fault)
      assert.equal(fault.kind, 'unavailable')
      assert.equal(fault.message, `the record ${file} cannot be read`)
      assert.match(fault.hint ?? '', /backup/)
      return true
    })
  })
}

test('no id’s directory or record collides with another id’s', async () => {
  await using directory = await temporaryDirectory()
  const paths = pathsIn(directory)
  const endings = ['', '.json', '.tmp', '.json.tmp', '.vm', '.vm.json', '.json.vm']
  const records = await Records.load(paths)
  for (const ending of endings) {
    await mkdir(vmDirectory(paths, await records.write(recordOf(`a${ending}`))))
  }
  const again = await Records.load(paths)
  assert.deepEqual(
    again
      .all()
      .map(({ id }) => id)
      .sort(),
    endings.map((end) => `a${end}`).sort(),
  )
})
