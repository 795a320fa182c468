// Goal: no notation of a path shows a guest a directory of the system or of ours.
// Method: paths in many notations, judged by the directories they lead to, not by their text.
import assert from 'node:assert/strict'
import { chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { defaultPaths, type Paths } from '../src/host/paths.ts'
import { isInDotDirectory } from '../src/share/homes.ts'
import { checkHostPath, isBarred } from '../src/share/host-path.ts'
import { BARRED, disguised, identity, nowhere, ONLY_BELOW } from './hostile-paths.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function ground() {
  const directory = await temporaryDirectory()
  const { at } = directory
  const paths: Paths = { ...defaultPaths, data: at('own/data'), run: at('own/run') }
  for (const name of ['own/data/vms', 'own/run', 'mine/deep/er', 'mine/with blank', 'mine/ünï']) {
    await mkdir(at(name), { recursive: true })
  }
  await writeFile(at('mine/file'), '')
  // A symbolic link to our data, as a user might have created it.
  await symlink(at('own/data'), at('data-by-link'))
  return { ...directory, at, paths }
}

/** Whether the directory is, or lies below, one of those: checked by the kernel step by step upwards. */
async function liesIn(path: string, places: ReadonlySet<string | undefined>): Promise<boolean> {
  for (let here = path, last = ''; ; here += '/..') {
    const now = await identity(here)
    if (now === undefined || places.has(now)) return true
    if (now === last) return false
    last = now
  }
}

test('of 500 paths to barred and allowed directories, no barred one passes', async () => {
  await using place = await ground()
  const { at, paths } = place
  const random = seededRandom(21)
  const ours = [paths.data, paths.run]
  const barred = [...BARRED, ...ours, at('data-by-link'), at('own/data/vms'), '/etc/ssh']
  const allowed = ['mine', 'mine/deep/er', 'mine/with blank', 'mine/ünï'].map(at)
  const forbidden = new Set(await Promise.all([...BARRED, ...ours].map(identity)))
  // Directories that do not exist on this machine are left out.
  forbidden.delete(undefined)
  const exactly = new Set(await Promise.all([...ONLY_BELOW, at('own')].map(identity)))
  let passed = 0
  for (let round = 0; round < 500; round += 1) {
    const target = random.pick([...barred, ...ONLY_BELOW, ...allowed, at('own')] as [string])
    let path = disguised(random, target, at('mine'))
    for (let hops = random.below(4); hops > 0; hops -= 1) {
      const link = at(`mine/link-${round}-${hops}`)
      await symlink(path, link)
      path = random.below(2) === 0 ? link : disguised(random, link, at('mine'))
    }
    const real = await checkHostPath(paths, path).catch((fault: unknown) => {
      assert(fault instanceof Fault, String(fault))
      assert.match(fault.kind, /^(invalid|forbidden)$/)
      return undefined
    })
    if (real === undefined) continue
    passed += 1
    assert(!(await liesIn(real, forbidden)), `${path} leads to ${real}`)
    assert(!exactly.has(await identity(real)), `${path} is ${real}`)
    assert(`${real}/`.startsWith(`${at('mine')}/`), `${path} became ${real}`)
  }
  assert(passed > 20, `only ${passed} of the paths were allowed at all`)
})

test('a directory of one’s own is allowed, in any notation', async () => {
  await using place = await ground()
  const { at, paths } = place
  const random = seededRandom(22)
  for (let round = 0; round < 50; round += 1) {
    const path = disguised(random, at('mine/with blank'), at('mine'))
    assert.equal(await checkHostPath(paths, path), at('mine/with blank'), path)
  }
})

test('a missing directory is invalid', async () => {
  await using place = await ground()
  const { at, paths } = place
  await symlink(at('loop-b'), at('loop-a'))
  await symlink(at('loop-a'), at('loop-b'))
  const wrong = [...nowhere(at('mine')), at('loop-a')]
  for (const path of wrong) {
    await assert.rejects(checkHostPath(paths, path), { kind: 'invalid' }, JSON.stringify(path))
  }
})

test('a directory above our data is not shown, nor our data by another name', async () => {
  await using place = await ground()
  const { at, paths } = place
  await assert.rejects(checkHostPath(paths, at('own')), { kind: 'forbidden' })
  const linked = { ...paths, data: at('data-by-link') }
  await assert.rejects(checkHostPath(linked, at('own/data/vms')), { kind: 'forbidden' })
})

test('dot-directories of a home are barred with all below them, the home is not', async () => {
  for (const path of ['/home/a/.ssh', '/home/a/.config/x', '/home/a/.x/y/z']) {
    assert.equal(await isInDotDirectory(path), true, path)
  }
  for (const path of ['/home/a', '/home/a/src', '/srv/x', '/etcetera']) {
    assert.equal(isBarred(path) || (await isInDotDirectory(path)), false, path)
  }
})

test('so are those of a home elsewhere, by any name in /etc/passwd', async () => {
  await using place = await ground()
  const { at } = place
  for (const name of ['far/a/.ssh/keys', 'far/a/src/.git', 'far/b/.config']) {
    await mkdir(at(name), { recursive: true })
  }
  await symlink(at('far'), at('near'))
  const register = at('passwd')
  const [id, other] = [process.getuid?.() ?? 0, 4_000_000]
  await writeFile(
    register,
    `a:x:${id}:1::${at('near/a')}:/bin/sh\nb:x:${other}:1::${at('far/b')}:/bin/sh\nc:x:${id}:1::/nonexistent:\n\n`,
  )
  for (const name of ['far/a/.ssh', 'far/a/.ssh/keys', 'far/b/.config']) {
    assert.equal(await isInDotDirectory(at(name), register), true, name)
  }
  for (const name of ['far/a', 'far/a/src/.git', 'far/b']) {
    assert.equal(await isInDotDirectory(at(name), register), false, name)
  }
})

test('where a uid is given, the directory must belong to it', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root: it gives a directory away')
  await using place = await ground()
  const { at, paths } = place
  await chown(at('mine/deep'), 1234, 1234)
  assert.equal(await checkHostPath(paths, at('mine/deep'), 1234), at('mine/deep'))
  await assert.rejects(checkHostPath(paths, at('mine/deep'), 1235), { kind: 'forbidden' })
  await assert.rejects(checkHostPath(paths, at('mine'), 1234), { kind: 'forbidden' })
})
