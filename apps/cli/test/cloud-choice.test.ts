// Goal: a command asks whom the profile says, and nobody else. Method: the command line with profiles of a test's own, and no cloud at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { NoAnswer } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'

import { failureOf } from '../src/cloud-failure.ts'
import { rowOf } from '../src/cloud-reading.ts'
import { things, typedRecord } from '../src/cloud-things.ts'
import { commands } from '../src/commands.ts'
import { Failure } from '../src/failure.ts'
import type { Profile } from '../src/profiles.ts'
import { stateWord, stateWords, statusOf } from '../src/state-words.ts'
import { renderTable } from '../src/table.ts'
import { cloudVmColumns } from '../src/vm-row.ts'
import { answer, keptProfiles, skerry, startDaemon } from './terminal.ts'
import { startTyping } from './typing.ts'

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9'
const work: Profile = { url: NOWHERE, user: 'bob@blue', token: 'T' }
const profiles = () => keptProfiles({ active: 'work', clouds: { work } })

test('the active profile decides, and the line overrides it', async () => {
  await using daemon = await startDaemon((_, reply) => answer(reply, 200, []))
  const cloud = await skerry(daemon.url, ['list'], { profiles: profiles() })
  assert.equal(cloud.code, 3)
  assert.match(cloud.err, /^skerry: the cloud at http:\/\/127\.0\.0\.1:9 cannot be reached: /)
  assert.deepEqual(daemon.asked, [])
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

test('every command that a cloud cannot have says what to do instead', () => {
  for (const { name, asks, instead } of commands) {
    assert.equal(asks === 'vmd', instead !== undefined, name)
  }
})

test('what is for clouds is refused on this machine before anybody is asked', async () => {
  for (const words of [
    ['start', 'a', '--no-wait'],
    ['create', 'a', '--vdc', 'main'],
    ['list', '--filter', 'name==a'],
    ['list', '--all'],
  ]) {
    const { code, err } = await skerry(NOWHERE, words)
    assert.equal(code, 2, words.join(' '))
    assert.match(err, /is for clouds; .*\nnext: leave it out, or say which cloud/)
  }
})

test('a file of profiles that is broken stops what needs it, and nothing else', async () => {
  const broken = {
    ...keptProfiles(),
    read: async () => Promise.reject(new Failure('refused', 'F does not hold profiles')),
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

test('profiles are shown, used and left by their names', async () => {
  const kept = profiles()
  const run = (...words: readonly string[]) => skerry(NOWHERE, words, { profiles: kept })
  assert.equal(
    (await run('profiles')).out,
    [
      'ACTIVE  NAME   ADDRESS              USER      WORKFLOWS',
      '-       local  vmd of this machine  -         -',
      `*       work   ${NOWHERE}   bob@blue  -`,
      '',
    ].join('\n'),
  )
  assert.equal((await run('use', 'local')).out, 'local is the active profile now\n')
  assert.match((await run('use', 'home')).err, /there is no profile home\nnext: skerry profiles/)
  assert.match((await run('logout')).err, /nobody is logged in to this machine/)
  const left = await run('logout', 'work')
  assert.equal(left.code, 0)
  assert.match(left.err, /does not answer: the token is forgotten here, but not revoked there/)
  assert.deepEqual((await kept.read()).clouds, {})
  assert.equal((await run('login', 'local', NOWHERE)).code, 2)
})

test('a password that is typed is not seen', async () => {
  const main = `${import.meta.dirname}/../src/main.ts`
  const line = `${process.execPath} ${main} login lab ${NOWHERE} --user bob@blue`
  const env = { ...process.env, XDG_CONFIG_HOME: '/nowhere' }
  await using terminal = startTyping(line, env)
  await terminal.sees(/password of bob@blue: $/)
  terminal.type('in confidence\n')
  const seen = await terminal.sees(/cannot be reached/)
  assert.ok(!seen.includes('in confidence'), seen)
})

test('a refusal of a cloud keeps its words, and is told with what helps', () => {
  const side = { name: 'work', profile: work }
  const told = (fault: Fault) => {
    const { reason, message, hint } = failureOf(fault, side)
    return [reason, message, hint]
  }
  assert.deepEqual(told(new Fault('unauthenticated', 'the token is over')), [
    ...['refused', 'the token is over', 'log in again: skerry login work'],
  ])
  assert.deepEqual(told(new Fault('conflict', 'it is off', { hint: 'turn it on' })), [
    ...['refused', 'it is off', 'turn it on'],
  ])
  assert.equal(told(new Fault('timed-out', 'too long'))[0], 'timedOut')
  const [reason, , hint] = told(new NoAnswer('unavailable', 'no', { detail: 'certificate' }))
  assert.equal(reason, 'unreachable')
  assert.match(hint ?? '', /skerry login work --ca FILE/)
})

test('a state has one word, here and there', () => {
  for (const status of Object.keys(stateWords)) assert.equal(statusOf(stateWord(status)), status)
  assert.equal(stateWord('POWERED_ON'), 'powered on')
  assert.equal(statusOf('nonsense'), 'nonsense')
})

test('the table of a cloud’s VMs is that of this machine, by name and with the vApp', () => {
  const row = rowOf({
    ...{ href: 'https://cloud.example/api/vApp/vm-1', name: 'web', containerName: 'shop' },
    ...{ status: 'POWERED_ON', numberOfCpus: '2', memoryMB: '2048', diskMB: '10240' },
  })
  assert.equal(
    renderTable(cloudVmColumns, [row]),
    [
      'NAME  VAPP  STATE       ADDRESS  CPUS  MEMORY    DISK  ID',
      'web   shop  powered on  -           2   2 GiB  10 GiB  vm-1',
    ].join('\n'),
  )
})

test('records are typed for programs, and names stay names', () => {
  assert.deepEqual(
    typedRecord({ name: '42', numberOfVMs: '3', isEnabled: 'false', href: 'https://c/api/org/o1' }),
    { id: 'o1', name: '42', numberOfVMs: 3, isEnabled: false, href: 'https://c/api/org/o1' },
  )
  for (const { columns } of things) assert.ok(columns.length > 1)
})
