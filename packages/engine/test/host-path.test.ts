// Goal: no way of writing a path shows a guest a directory that belongs to the machine or to us.
// Method: paths written in many ways, judged by which directories they lead to, not by their text.
import assert from 'node:assert/strict'
import { chown, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { Random } from '../../xml/test/arbitrary.ts'
import { checkHostPath, isBarred } from '../src/host-path.ts'
import { defaultPaths, type Paths } from '../src/paths.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const BARRED = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/root', '/run', '/sbin', '/sys'],
  ...['/usr', '/var/lib', '/var/log', '/var/run', '/var/spool'],
]
const ONLY_BELOW = ['/', '/home', '/media', '/mnt', '/opt', '/srv', '/tmp', '/var']

async function ground() {
  const directory = await temporaryDirectory()
  const { at } = directory
  const paths: Paths = { ...defaultPaths, data: at('own/data'), run: at('own/run') }
  for (const name of ['own/data/vms', 'own/run', 'mine/deep/er', 'mine/with blank', 'mine/ünï']) {
    await mkdir(at(name), { recursive: true })
  }
  await writeFile(at('mine/file'), '')
  // The way to our data as somebody might have set it up.
  await symlink(at('own/data'), at('data-by-link'))
  return { ...directory, at, paths }
}

const identity = async (path: string): Promise<string | undefined> => {
  const facts = await stat(path, { bigint: true }).catch(() => undefined)
  return facts && `${facts.dev}:${facts.ino}`
}

/** Whether the directory is, or lies below, one of those: asked of the kernel step by step upwards. */
async function liesIn(path: string, places: ReadonlySet<string | undefined>): Promise<boolean> {
  for (let here = path, last = ''; ; here += '/..') {
    const now = await identity(here)
    if (now === undefined || places.has(now)) return true
    if (now === last) return false
    last = now
  }
}

/** A path that leads somewhere, written as nobody would write it. */
function disguised(random: Random, path: string, at: (name: string) => string): string {
  const disguises = [
    (each: string) => each,
    (each: string) => each.replaceAll('/', '//'),
    (each: string) => each.replaceAll('/', '/./'),
    (each: string) => `${each}/`,
    (each: string) => `${each}/.`,
    (each: string) => `${at('mine/deep')}/../../../..${each}`,
    (each: string) => `/tmp/../..${each}`,
    (each: string) => `/proc/self/root${each}`,
    (each: string) => `${at('mine')}/${'../'.repeat(20)}${each}`,
    (each: string) => `${each}/../${each.split('/').at(-1) ?? ''}`,
  ] as const
  return random.pick(disguises)(random.pick(disguises)(path))
}

test('of 500 paths to what is barred and to what is not, nothing barred passes', async () => {
  await using place = await ground()
  const { at, paths } = place
  const random = new Random(21)
  const ours = [paths.data, paths.run]
  const barred = [...BARRED, ...ours, at('data-by-link'), at('own/data/vms'), '/etc/ssh']
  const allowed = ['mine', 'mine/deep/er', 'mine/with blank', 'mine/ünï'].map(at)
  const forbidden = new Set(await Promise.all([...BARRED, ...ours].map(identity)))
  // What has no directory on this machine is no place to lie in.
  forbidden.delete(undefined)
  const exactly = new Set(await Promise.all([...ONLY_BELOW, at('own')].map(identity)))
  let passed = 0
  for (let round = 0; round < 500; round += 1) {
    const target = random.pick([...barred, ...ONLY_BELOW, ...allowed, at('own')] as [string])
    let path = disguised(random, target, at)
    for (let hops = random.below(4); hops > 0; hops -= 1) {
      const link = at(`mine/link-${round}-${hops}`)
      await symlink(path, link)
      path = random.below(2) === 0 ? link : disguised(random, link, at)
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

test('a directory of one’s own is allowed, however it is written', async () => {
  await using place = await ground()
  const { at, paths } = place
  const random = new Random(22)
  for (let round = 0; round < 50; round += 1) {
    const path = disguised(random, at('mine/with blank'), at)
    assert.equal(await checkHostPath(paths, path), at('mine/with blank'), path)
  }
})

test('what is no directory of this host is invalid', async () => {
  await using place = await ground()
  const { at, paths } = place
  await symlink(at('loop-b'), at('loop-a'))
  await symlink(at('loop-a'), at('loop-b'))
  const wrong = [
    ...['', '.', '..', 'mine', './mine', '~', '~root', 'C:\\', '\\\\host\\share', 'file:///etc'],
    ...[`${at('mine')}\0`, `\0${at('mine')}`, `/etc\0${at('mine')}`, at('mine/file')],
    ...[at('nowhere'), at('mine/file/'), at('loop-a'), `/${'x'.repeat(5000)}`],
    ...[`${at('mine')}\n`, ` ${at('mine')}`, at('mine/%2e%2e'), at('MINE')],
  ]
  for (const path of wrong) {
    await assert.rejects(checkHostPath(paths, path), { kind: 'invalid' }, JSON.stringify(path))
  }
})

test('a directory above our data is not shown, and neither is our data by another name', async () => {
  await using place = await ground()
  const { at, paths } = place
  await assert.rejects(checkHostPath(paths, at('own')), { kind: 'forbidden' })
  const linked = { ...paths, data: at('data-by-link') }
  await assert.rejects(checkHostPath(linked, at('own/data/vms')), { kind: 'forbidden' })
})

test('dot-directories of a home are barred with all below them, the home is not', () => {
  for (const path of ['/home/a/.ssh', '/home/a/.config/x', '/home/a/.x/y/z']) {
    assert.equal(isBarred(path), true, path)
  }
  for (const path of ['/home/a', '/home/a/src', '/home/a/src/.git', '/srv/.x', '/etcetera']) {
    assert.equal(isBarred(path), false, path)
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
