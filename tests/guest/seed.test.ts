// Goal: a guest gets its name and its users from its seed, and is reachable at the address we return.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonToSkip } from '@skerry/lab'

import { BOOT_MS, inGuest, startPlace, untilUp, type Place } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const run = promisify(execFile)

async function makeKey({ dir }: Place, name: string): Promise<{ file: string; text: string }> {
  const file = join(dir, name)
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'somebody@home', '-f', file])
  return { file, text: (await readFile(`${file}.pub`, 'utf8')).trim() }
}

const ssh = ({ host }: Place, address: string, key: string, command: string) =>
  host.run([
    'ssh',
    '-i',
    key,
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    'BatchMode=yes',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'ConnectTimeout=60',
    `root@${address}`,
    command,
  ])

test('a user that the seed names can log in, and no one else', { skip }, async () => {
  await using place = await startPlace()
  const { engine } = place
  const [mine, other] = [await makeKey(place, 'mine'), await makeKey(place, 'other')]
  await engine.createVm({ id: 'Web_1.a', memoryMiB: 128, seed: { sshKeys: [mine.text] } })
  await assert.rejects(engine.readAddress('Web_1.a'), { kind: 'conflict', message: /is off/ })
  await engine.changePower('Web_1.a', 'on')
  const { address } = await engine.waitForAddress('Web_1.a', BOOT_MS)
  assert.match(address, /^10\.83\.\d+\.\d+$/)
  await untilUp(engine, 'Web_1.a')
  assert.equal(await inGuest(engine, 'Web_1.a', 'hostname'), 'Web-1-a')

  const login = await ssh(place, address, mine.file, 'hostname; cat /proc/uptime')
  assert.equal(login.code, 0, login.stderr)
  assert.match(login.stdout, /^Web-1-a\n[\d.]+ /)
  const refused = await ssh(place, address, other.file, 'hostname')
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /Permission denied/)
  assert.equal((await engine.readAddress('Web_1.a')).address, address)
})
