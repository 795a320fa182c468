import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { profileFile } from '../src/profiles/profile-file.ts'
import {
  chooseProfile,
  LOCAL,
  noProfiles,
  readProfiles,
  renderProfiles,
  requireProfileName,
  withoutProfile,
  withProfile,
  type Profile,
} from '../src/profiles/profiles.ts'

const work: Profile = { url: 'https://cloud.example', user: 'bob@blue', token: 'T' }
const home: Profile = { url: 'https://home.example', user: 'me@mine', token: 'U' }
const both = withProfile(withProfile(noProfiles, 'work', work, 'work'), 'home', home, 'work')

test('the target comes from the options, the environment or the active profile, in this order', () => {
  const chosen = (...summary: Parameters<typeof chooseProfile>) => {
    const choice = chooseProfile(...summary)
    return choice.on === 'cloud' ? choice.name : choice.on
  }
  assert.equal(chosen(noProfiles, {}), 'vmd')
  assert.equal(chosen(both, {}), 'work')
  assert.equal(chosen(both, { environment: 'home' }), 'home')
  assert.equal(chosen(both, { environment: 'home', on: 'work' }), 'work')
  assert.equal(chosen(both, { on: LOCAL, environment: 'home' }), 'vmd')
  assert.equal(chosen(both, { url: 'http://127.0.0.1:8080', environment: 'home' }), 'vmd')
  assert.equal(chosen(both, { url: 'http://127.0.0.1:8080', on: LOCAL }), 'vmd')
  assert.throws(() => chosen(both, { url: 'http://127.0.0.1:8080', on: 'work' }), {
    reason: 'usage',
  })
})

test('an unknown profile is reported with the existing ones', () => {
  for (const name of ['wrok', 'constructor', '__proto__']) {
    assert.throws(() => chooseProfile(both, { on: name }), {
      reason: 'refused',
      message: `there is no profile ${name}`,
      hint: `skerry login ${name} URL --user USER@ORG creates it; existing profiles: local, work, home`,
    })
  }
})

test('after a logout from the active profile, this machine is active', () => {
  const left = withoutProfile(both, 'work')
  assert.deepEqual([left.active, Object.keys(left.clouds)], [LOCAL, ['home']])
  assert.equal(withoutProfile(both, 'home').active, 'work')
})

test('a profile may not be named local or contain special characters', () => {
  for (const name of [LOCAL, '', '-x', 'a b', 'a/b', 'ä']) {
    assert.throws(() => requireProfileName(name), { reason: 'usage' }, name)
  }
  for (const name of ['work', 'a-b_c.9']) requireProfileName(name)
})

test('a stored file is read back, and a broken one is reported', () => {
  assert.deepEqual(readProfiles(renderProfiles(both), 'F'), both)
  for (const text of ['', 'null and void', '[', '{"clouds":{"a":{}}}', '{"active":7}']) {
    assert.throws(
      () => readProfiles(text, 'F'),
      { message: 'F is not a valid file of profiles' },
      text,
    )
  }
})

test('only the owner can read the file, and one that others can read is rejected', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'skerry-profiles-'))
  const file = join(directory.path, 'deep', 'skerry', 'profiles.json')
  const store = profileFile(file)
  assert.deepEqual(await store.read(), noProfiles)
  await store.write(both)
  assert.deepEqual(await store.read(), both)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.equal((await stat(join(directory.path, 'deep', 'skerry'))).mode & 0o777, 0o700)
  await chmod(file, 0o640)
  await assert.rejects(store.read(), { reason: 'refused', message: /others can read/ })
  await store.write(noProfiles)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await writeFile(file, 'broken')
  await assert.rejects(store.read(), { message: `${file} is not a valid file of profiles` })
  assert.equal(await readFile(file, 'utf8'), 'broken')
})
