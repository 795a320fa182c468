import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot } from '@skerry/lab'
import { hostnameOf, whyNotSeed } from '@skerry/vm'

import { seedFiles, writeSeed } from '../src/disk/seed.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const run = promisify(execFile)
const skip = reasonWithoutRoot('small') ?? false
const vm = { uuid: '7b3f2f0e-0000-4000-8000-000000000000', hostname: 'web-1' }
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOb0nZpu2ZCzSfzvFxQ0BkTjpkVUXoqm1hP9wF6cTXJG me@home'

test('valid keys and userData', () => {
  for (const seed of [{}, { sshKeys: [] }, { sshKeys: [KEY, KEY] }, { userData: '#cloud-config' }])
    assert.equal(whyNotSeed(seed), undefined)
  for (const kind of ['ssh-rsa', 'ecdsa-sha2-nistp256', 'sk-ssh-ed25519@openssh.com'])
    assert.equal(whyNotSeed({ sshKeys: [`${kind} AAAAB3NzaC1yc2EAAAADAQABAAABgQ==`] }), undefined)
})

test('a key is one line and nothing else', () => {
  const wrong = [
    '',
    'AAAA',
    'ssh-ed25519',
    'ssh-ed25519 AAAA',
    `${KEY}\nruncmd: [reboot]`,
    `${KEY}\r\n- x`,
    `${KEY}\u2028\u0085`,
    `command="sh" ${KEY}`,
    'ssh-dss AAAAB3NzaC1kc3MAAACBAAAAAAAAAAAA',
    '-----BEGIN OPENSSH PRIVATE KEY-----',
  ]
  for (const key of wrong) {
    assert.match(whyNotSeed({ sshKeys: [KEY, key] }) ?? '', /one line/, JSON.stringify(key))
  }
})

test('keys and userData are mutually exclusive', () => {
  assert.match(whyNotSeed({ sshKeys: [KEY], userData: 'x' }) ?? '', /not both/)
  assert.match(whyNotSeed({ userData: 'ü'.repeat(262_145) }) ?? '', /at most 524288 bytes/)
})

test('a host name is one DNS label, and one can be derived from every name', () => {
  for (const hostname of ['a', 'Web-1', 'x'.repeat(63)]) {
    assert.equal(whyNotSeed({ hostname }), undefined)
  }
  for (const hostname of ['', '-a', 'a-', 'a.b', 'a b', 'ü', 'x'.repeat(64), 'a\nb']) {
    assert.match(whyNotSeed({ hostname }) ?? '', /host name/, hostname)
  }
  for (const name of ['web_1.example', '  db  ', 'ü', '---', `${'x'.repeat(62)}..`, 'a VM']) {
    assert.equal(whyNotSeed({ hostname: hostnameOf(name) }), undefined, name)
  }
  assert.deepEqual(['a VM', 'web_1', 'ü'].map(hostnameOf), ['a-VM', 'web-1', 'vm'])
})

test('every text in the documents is a JSON string, which is valid YAML', () => {
  const tricky = `${KEY} "quoted" \\ # not a comment: {yes}`
  const files = seedFiles(vm, { sshKeys: [KEY, tricky] })
  assert.equal(files['meta-data'], `instance-id: "${vm.uuid}"\nlocal-hostname: "${vm.hostname}"\n`)
  const [first, second, ...keys] = files['user-data'].trimEnd().split('\n')
  assert.deepEqual([first, second], ['#cloud-config', 'ssh_authorized_keys:'])
  assert.deepEqual(
    keys.map((line) => JSON.parse(line.replace(/^ {2}- /, '')) as unknown),
    [KEY, tricky],
  )
  assert.equal(seedFiles(vm, {})['user-data'], '#cloud-config\n{}\n')
})

test('the seed is a FAT disk labelled CIDATA with both files', { skip }, async () => {
  await using directory = await temporaryDirectory()
  const file = directory.at('seed.img')
  const userData = `#cloud-config\n${'# ü\n'.repeat(20_000)}`
  await writeSeed(file, vm, { userData })
  const read = async (name: string) => (await run('mtype', ['-i', file, `::${name}`])).stdout
  assert.equal(await read('user-data'), userData)
  assert.equal(await read('meta-data'), seedFiles(vm, {})['meta-data'])
  assert.match((await run('mlabel', ['-i', file, '-s', '::'])).stdout, /CIDATA/)
  const { size, mode } = await stat(file)
  assert.deepEqual(
    [size, mode & 0o777],
    [1024 * 1024, 0o600],
    'no other user of the host can read it',
  )
  assert.deepEqual(await readdir(directory.path), ['seed.img'])
})

test('a seed that is rejected, or fails, leaves nothing', { skip }, async () => {
  await using directory = await temporaryDirectory()
  await assert.rejects(writeSeed(directory.at('seed.img'), vm, { sshKeys: ['x'] }), {
    kind: 'invalid',
  })
  await assert.rejects(writeSeed(directory.at('nowhere/seed.img'), vm, {}))
  assert.deepEqual(await readdir(directory.path), [])
})
