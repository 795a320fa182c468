import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

import { completionScripts } from '../src/help/complete.ts'
import { answer, skerry, startDaemon } from './terminal.ts'

const daemonOf = () =>
  startDaemon((requested, reply) =>
    requested === 'GET /api/templates'
      ? answer(reply, 200, [{ name: 'default' }])
      : answer(reply, 200, ['web-1', 'web-2', 'db']),
  )

test('commands, subcommands, options, VMs and templates are completed', async () => {
  await using daemon = await daemonOf()
  const completed = async (...words: readonly string[]) =>
    (await skerry(daemon.url, ['complete', '--', ...words])).out.split('\n').slice(0, -1)
  assert.deepEqual(await completed('sn'), ['snapshot'])
  assert.deepEqual(await completed('s'), [
    'second-factor',
    'security-group',
    'set',
    'share',
    'snapshot',
    'ssh',
    'start',
    'stop',
    'suspend',
  ])
  assert.deepEqual(await completed('share', ''), ['add', 'enable', 'list', 'rm'])
  assert.deepEqual(await completed('admin', 'host', ''), [
    'adopt',
    'declare-lost',
    'disable',
    'enable',
    'invite',
    'list',
    'revoke',
  ])
  assert.deepEqual(await completed('admin', 'w'), ['workflow-server'])
  assert.deepEqual(await completed('admin', 'org', 'create', 'x', '--v'), ['--vdc'])
  assert.deepEqual(await completed('admin', 'org', 'create', ''), [])
  assert.deepEqual(await completed('start', 'w'), ['web-1', 'web-2'])
  assert.deepEqual(await completed('rm', 'web-1', 'd'), ['db'])
  assert.deepEqual(await completed('snapshot', 'list', ''), ['db', 'web-1', 'web-2'])
  assert.deepEqual(await completed('stop', 'db', '--f'), ['--force'])
  assert.deepEqual(await completed('stop', '--url', 'http://x', 'db', ''), [])
  assert.deepEqual(await completed('create', 'x', '--template', ''), ['default'])
  assert.deepEqual(await completed('completion', ''), ['bash', 'zsh'])
  assert.deepEqual(await completed('start', 'web-1', ''), [])
  assert.deepEqual(await completed('nonsense', 'x'), [])
})

test('without vmd there are no completions and no messages', async () => {
  const { code, out, err } = await skerry('http://127.0.0.1:9', ['complete', '--', 'start', ''])
  assert.deepEqual([code, out, err], [0, '', ''])
})

test('bash completes with the script', () => {
  const script = `${completionScripts.bash}
skerry() { (IFS=' '; echo "$*"); echo web-1; }
COMP_WORDS=(skerry start we); COMP_CWORD=2
_skerry
printf '%s|' "\${COMPREPLY[@]}"`
  assert.equal(
    execFileSync('bash', ['-c', script], { encoding: 'utf8' }),
    'complete -- start we|web-1|',
  )
})
