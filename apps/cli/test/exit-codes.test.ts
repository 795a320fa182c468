// Goal: scripts can rely on the exit codes of `skerry`. Method: a small server returns the errors of a real vmd.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answer, skerry, startDaemon } from './terminal.ts'

test('1: an error of vmd is printed with its message and hint', async () => {
  await using daemon = await startDaemon((_, reply) =>
    answer(reply, 409, { code: 409, message: 'VM a is off', hint: 'turn VM a on' }),
  )
  const { code, out, err } = await skerry(daemon.url, ['suspend', 'a'])
  assert.deepEqual([code, out, err], [1, '', 'skerry: VM a is off\nnext: turn VM a on\n'])
  const json = await skerry(daemon.url, ['suspend', 'a', '--json'])
  assert.deepEqual(JSON.parse(json.out), {
    code: 409,
    message: 'VM a is off',
    hint: 'turn VM a on',
  })
  assert.equal(json.code, 1)
})

test('1: a response that is not JSON is an error, not a crash', async () => {
  await using daemon = await startDaemon((_, reply) => reply.writeHead(500).end('<html>'))
  const { code, err } = await skerry(daemon.url, ['list'])
  assert.deepEqual([code, err], [1, 'skerry: vmd returned 500 without a message\n'])
})

test('1: a command that needs root fails before it does anything', async () => {
  const { code, err } = await skerry('http://127.0.0.1:9', ['template', 'build'])
  assert.equal(code, 1)
  assert.match(err, /needs root.*\nnext: sudo skerry template build\n/)
})

test('3: an unreachable vmd is reported with how to start it', async () => {
  const { code, out, err } = await skerry('http://127.0.0.1:9', ['list'])
  assert.deepEqual([code, out], [3, ''])
  assert.equal(
    err,
    'skerry: vmd does not answer at http://127.0.0.1:9\nnext: start it in another terminal: sudo skerry vmd\n',
  )
})

test('3: a connection lost during the response counts as unreachable', async () => {
  await using daemon = await startDaemon((_, reply) => {
    reply.writeHead(200, { 'content-length': 100 }).write('[')
    reply.destroy()
  })
  assert.equal((await skerry(daemon.url, ['list'])).code, 3)
})

test('4: a timeout differs from a rejection, because the operation may still complete', async () => {
  await using daemon = await startDaemon((_, reply) =>
    answer(reply, 504, { code: 504, message: 'VM a did not shut down within 60 s' }),
  )
  const { code, err } = await skerry(daemon.url, ['stop', 'a'])
  assert.deepEqual([code, err], [4, 'skerry: VM a did not shut down within 60 s\n'])
})

test('4: waiting for an address times out with a hint', async () => {
  let clock = 0
  await using daemon = await startDaemon((_, reply) => {
    clock += 30_000
    answer(reply, 504, { code: 504, message: 'VM a got no address' })
  })
  const waiting = ['address', 'a', '--wait', '--timeout', '70']
  const { code, err } = await skerry(daemon.url, waiting, { now: () => clock })
  assert.equal(code, 4)
  assert.equal(
    err,
    'skerry: a has no address after 70 s\nnext: check the guest’s output: skerry logs a\n',
  )
  assert.deepEqual(daemon.requested, [
    'GET /api/vms/a/ipaddress?wait=30',
    'GET /api/vms/a/ipaddress?wait=30',
    'GET /api/vms/a/ipaddress?wait=10',
  ])
})

test('ssh and exec return the exit code of the program', async () => {
  await using daemon = await startDaemon((requested, reply) =>
    requested.includes('exec')
      ? answer(reply, 200, { exitCode: 3, stdout: 'said\n', stderr: 'but\n' })
      : answer(reply, 200, { code: 200, message: '192.0.2.7' }),
  )
  const exec = await skerry(daemon.url, ['exec', 'a', '--', 'sh', '-c', 'exit 3'])
  assert.deepEqual([exec.code, exec.out, exec.err], [3, 'said\n', 'but\n'])
  assert.ok(daemon.requested.includes('POST /api/vms/a/exec {"path":"sh","args":["-c","exit 3"]}'))
  const ssh = await skerry(daemon.url, ['ssh', 'a', '--user', 'me', '--', 'ls', '-l'])
  assert.equal(ssh.code, 7)
  assert.deepEqual(ssh.programs, [
    [
      'ssh',
      '-o',
      'HostKeyAlias=skerry-a',
      '-o',
      'StrictHostKeyChecking=accept-new',
      'me@192.0.2.7',
      '--',
      'ls',
      '-l',
    ],
  ])
  const shown = await skerry(daemon.url, ['ssh', 'a', '--print', '--', 'echo', "it's"])
  assert.deepEqual([shown.code, shown.programs], [0, []])
  assert.match(shown.out, /^ssh -o HostKeyAlias=skerry-a .* -- echo 'it'\\''s'\n$/)
})

test('ssh waits for the SSH server of the guest, with a timeout', async () => {
  await using daemon = await startDaemon((_, reply) =>
    answer(reply, 200, { code: 200, message: '192.0.2.7' }),
  )
  const tries = [false, false, true]
  const late = await skerry(daemon.url, ['ssh', 'a'], {
    listens: async () => tries.shift() === true,
  })
  assert.deepEqual([late.code, late.programs.length, tries], [7, 1, []])
  const never = await skerry(daemon.url, ['ssh', 'a', '--timeout', '5'], {
    listens: async () => false,
  })
  assert.deepEqual([never.code, never.programs], [4, []])
  assert.match(
    never.err,
    /no SSH server at 192\.0\.2\.7, port 22, after 5 s\nnext: .* skerry logs a/,
  )
})

test('a token is sent to vmd', async () => {
  await using daemon = await startDaemon((_, reply) => answer(reply, 200, []))
  await skerry(daemon.url, ['list'], { token: 'secret' })
  assert.equal(daemon.headers[0]?.authorization, 'Bearer secret')
})

test('an id is always one path segment, with any characters', async () => {
  await using daemon = await startDaemon((_, reply) => answer(reply, 204))
  await skerry(daemon.url, ['rm', '../templates/default?x'])
  assert.deepEqual(daemon.requested, ['DELETE /api/vms/..%2Ftemplates%2Fdefault%3Fx'])
})
