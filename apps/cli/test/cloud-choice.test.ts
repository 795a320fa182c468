// Goal: a command contacts only the target of its profile. Method: the CLI with profiles of the test, without any cloud.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { NoAnswer } from '@skerry/cloud-client'
import { renderTable } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { failureOf } from '../src/cloud/failure.ts'
import { rowOf } from '../src/cloud/reading.ts'
import { resourceLists, typedRecord } from '../src/cloud/resources.ts'
import { commands } from '../src/commands.ts'
import { cloudVmColumns } from '../src/local/vm-row.ts'
import type { Profile } from '../src/profiles/profiles.ts'
import { Failure } from '../src/terminal/failure.ts'
import { stateWord, stateWords, statusOf } from '../src/vms/state-words.ts'
import { answer, keptProfiles, skerry, startDaemon } from './terminal.ts'
import { startTyping } from './typing.ts'

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9'
const work: Profile = { url: NOWHERE, user: 'bob@blue', token: 'T' }
const profiles = () => keptProfiles({ active: 'work', clouds: { work } })

test('the active profile selects the target, and the command line overrides it', async () => {
  await using daemon = await startDaemon((_, reply) => answer(reply, 200, []))
  const cloud = await skerry(daemon.url, ['list'], { profiles: profiles() })
  assert.equal(cloud.code, 3)
  assert.match(cloud.err, /^skerry: the cloud at http:\/\/127\.0\.0\.1:9 cannot be reached: /)
  assert.deepEqual(daemon.requested, [])
  for (const words of [
    ['--on', 'local'],
    ['--url', daemon.url],
  ]) {
    const here = await skerry(daemon.url, ['list', ...words], { profiles: profiles() })
    assert.equal(here.code, 0, here.err)
  }
  const local = { profiles: keptProfiles({ active: 'local', clouds: { work } }) }
  assert.equal((await skerry(daemon.url, ['list'], local)).code, 0)
  assert.equal((await skerry(daemon.url, ['list'], { ...local, profile: 'work' })).code, 3)
  assert.equal((await skerry(daemon.url, ['list', '--on', 'work'], local)).code, 3)
})

test('every command that clouds do not support names an alternative', () => {
  for (const { name, asks, instead } of commands) {
    assert.equal(asks === 'vmd', instead !== undefined, name)
  }
})

test('options for clouds are rejected for this machine before any request', async () => {
  for (const words of [
    ['start', 'a', '--no-wait'],
    ['create', 'a', '--vdc', 'main'],
    ['list', '--filter', 'name==a'],
    ['list', '--all'],
  ]) {
    const { code, err } = await skerry(NOWHERE, words)
    assert.equal(code, 2, words.join(' '))
    assert.match(err, /is for clouds; .*\nnext: omit it, or select a cloud/)
  }
})

test('a broken profile file fails only commands that need it', async () => {
  const broken = {
    ...keptProfiles(),
    read: async () => Promise.reject(new Failure('refused', 'F is not a valid file of profiles')),
  }
  assert.equal((await skerry(NOWHERE, ['list'], { profiles: broken })).code, 1)
  for (const words of [
    ['help'],
    ['version'],
    ['completion', 'bash'],
    ['complete', '--', 'use', ''],
  ]) {
    assert.equal((await skerry(NOWHERE, words, { profiles: broken })).code, 0, words.join(' '))
  }
})

test('profiles are listed, selected and logged out by name', async () => {
  const kept = profiles()
  const run = (...words: readonly string[]) => skerry(NOWHERE, words, { profiles: kept })
  assert.equal(
    (await run('profiles')).out,
    [
      'ACTIVE  NAME   ADDRESS              USER      WORKFLOWS',
      '-       local  vmd on this machine  -         -',
      `*       work   ${NOWHERE}   bob@blue  -`,
      '',
    ].join('\n'),
  )
  assert.equal((await run('use', 'local')).out, 'local is the active profile now\n')
  assert.match((await run('use', 'home')).err, /there is no profile home\nnext: skerry profiles/)
  assert.match((await run('logout')).err, /local is this machine and needs no login/)
  const left = await run('logout', 'work')
  assert.equal(left.code, 0)
  assert.match(left.err, /does not respond: the token is deleted here, but not revoked there/)
  assert.deepEqual((await kept.read()).clouds, {})
  assert.equal((await run('login', 'local', NOWHERE)).code, 2)
})

test('a typed password is not echoed', async () => {
  const main = `${import.meta.dirname}/../src/main.ts`
  const line = `${process.execPath} ${main} login lab ${NOWHERE} --user bob@blue`
  const env = { ...process.env, XDG_CONFIG_HOME: '/nowhere' }
  await using terminal = startTyping(line, env)
  await terminal.sees(/password of bob@blue: $/)
  terminal.type('in confidence\n')
  const seen = await terminal.sees(/cannot be reached/)
  assert.ok(!seen.includes('in confidence'), seen)
})

test('a fault of a cloud keeps its message and gets a hint', () => {
  const side = { name: 'work', profile: work }
  const summary = (fault: Fault) => {
    const { reason, message, hint } = failureOf(fault, side)
    return [reason, message, hint]
  }
  assert.deepEqual(summary(new Fault('unauthenticated', 'the token is expired')), [
    'refused',
    'the token is expired',
    'log in again: skerry login work',
  ])
  assert.deepEqual(summary(new Fault('conflict', 'it is off', { hint: 'turn it on' })), [
    'refused',
    'it is off',
    'turn it on',
  ])
  assert.equal(summary(new Fault('timed-out', 'too long'))[0], 'timedOut')
  const [reason, , hint] = summary(new NoAnswer('unavailable', 'no', { detail: 'certificate' }))
  assert.equal(reason, 'unreachable')
  assert.match(hint ?? '', /skerry login work --ca FILE/)
})

test('a state has the same word for vmd and for a cloud', () => {
  for (const status of Object.keys(stateWords)) assert.equal(statusOf(stateWord(status)), status)
  assert.equal(stateWord('POWERED_ON'), 'powered on')
  assert.equal(statusOf('nonsense'), 'nonsense')
})

test('the VM table of a cloud has the columns of vmd, plus the vApp, with the name first', () => {
  const row = rowOf({
    href: 'https://cloud.example/api/vApp/vm-1',
    name: 'web',
    containerName: 'shop',
    status: 'POWERED_ON',
    numberOfCpus: '2',
    memoryMB: '2048',
    diskMB: '10240',
  })
  assert.equal(
    renderTable(cloudVmColumns, [row]),
    [
      'NAME  VAPP  STATE       ADDRESS  CPUS  MEMORY    DISK  ID',
      'web   shop  powered on  -           2   2 GiB  10 GiB  vm-1',
    ].join('\n'),
  )
})

test('records are typed in JSON, and names stay strings', () => {
  assert.deepEqual(
    typedRecord({ name: '42', numberOfVMs: '3', isEnabled: 'false', href: 'https://c/api/org/o1' }),
    { id: 'o1', name: '42', numberOfVMs: 3, isEnabled: false, href: 'https://c/api/org/o1' },
  )
  for (const { columns } of resourceLists) assert.ok(columns.length > 1)
})
