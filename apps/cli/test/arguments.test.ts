import assert from 'node:assert/strict'
import { test } from 'node:test'

import { places } from '../src/command.ts'
import { commands } from '../src/commands.ts'
import { nearest } from '../src/run-command.ts'
import { sizeMiB, wholeNumber } from '../src/terminal/number.ts'
import { skerry } from './terminal.ts'

/** Nothing listens there: a command that gets as far as a request exits with 3, not with 2. */
const NOWHERE = 'http://127.0.0.1:9'

test('a usage distinguishes required, optional and repeated arguments', () => {
  assert.deepEqual(places('VM [NAME] -- COMMAND...'), [
    { name: 'VM', needed: true, rest: false },
    { name: 'NAME', needed: false, rest: false },
    { name: 'COMMAND', needed: true, rest: true },
  ])
})

test('every command has a unique name, a summary and documented options', () => {
  const names = commands.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { name, summary, options } of commands) {
    assert.ok(summary.length > 10, name)
    for (const { doc } of Object.values(options)) assert.ok(doc.length > 5, name)
  }
})

test('invalid usage exits with 2 and shows the usage', async () => {
  const wrong: readonly (readonly [readonly string[], RegExp, RegExp])[] = [
    [['start'], /VM is missing/, /usage: skerry start VM/],
    [['start', 'a', 'b'], /unexpected argument b/, /usage: skerry start VM/],
    [['list', '--fast'], /Unknown option '--fast'/, /usage: skerry list/],
    [['stop', 'a', '--force=yes'], /--force/, /usage: skerry stop VM/],
    [['share'], /share must be followed by one of enable, add, list, remove/, /--help/],
    [['share', 'fly'], /share must be followed by one of/, /--help/],
    [['lits'], /there is no command lits/, /did you mean skerry list\?/],
    [['xyzzy'], /there is no command xyzzy/, /skerry help/],
    [['create', 'a', '--cpus', 'two'], /--cpus must be a whole number above 0/, /^$/],
    [['create', 'a', '--memory', '2X'], /--memory must be a size like 512M or 2G/, /^$/],
    [['create', 'a', '--ssh-key', '/nowhere'], /\/nowhere cannot be read/, /give the path/],
    [['forward', 'add', 'a', '22'], /ports must be like 8022:22/, /first the port of this/],
    [['set', 'a'], /no change given/, /skerry set --help/],
    [['set', 'a', '--autostart', 'maybe'], /must be yes or no/, /^$/],
    [['completion', 'fish'], /must be bash or zsh, not fish/, /source/],
    [['list', '--url', 'ftp://x'], /--url must be like/, /^$/],
  ]
  for (const [words, message, next] of wrong) {
    const { code, out, err } = await skerry(NOWHERE, words)
    const [first = '', second = ''] = err.split('\n')
    assert.deepEqual([code, out], [2, ''], words.join(' '))
    assert.match(first, /^skerry: /)
    assert.match(first, message)
    assert.match(second.replace(/^next: /, ''), next)
  }
})

test('without arguments all commands are listed with exit code 2; skerry help lists them with 0', async () => {
  const none = await skerry(NOWHERE, [])
  assert.deepEqual([none.code, none.out], [2, ''])
  const help = await skerry(NOWHERE, ['help'])
  assert.equal(help.code, 0)
  assert.equal(help.out, none.err)
  for (const { name } of commands) assert.match(help.out, new RegExp(`^  ${name} `, 'm'))
  assert.match(
    help.out,
    /0 done, 1 failed, 2 invalid usage, 3 vmd or cloud unreachable, 4 timed out/,
  )
})

test('vmd and the cloud are started with their own options, and their exit code is returned', async () => {
  const { code, programs } = await skerry(NOWHERE, ['vmd', '--port', '9', '--stop-guests', 'all'])
  assert.equal(code, 7)
  const [, ...words] = programs[0] ?? []
  assert.match(words.join(' '), /apps\/vmd\/src\/main\.ts --port 9 --stop-guests all$/)
  const cloud = await skerry(NOWHERE, ['cloud', 'host', 'list', '--json'])
  assert.equal(cloud.code, 7)
  assert.match(
    cloud.programs[0]?.slice(1).join(' ') ?? '',
    /cloud\/src\/main\.ts host list --json$/,
  )
})

test('numbers and sizes are parsed as users write them', () => {
  assert.deepEqual(
    ['512', '512M', '2G', '2gib', '1T'].map((text) => sizeMiB('--disk', text)),
    [512, 512, 2048, 2048, 1_048_576],
  )
  assert.equal(wholeNumber('--cpus', '4'), 4)
  for (const text of ['', '0', '-1', '1.5', '1e3', 'G'])
    assert.throws(() => sizeMiB('--disk', text), { reason: 'usage' })
})

test('a command with up to two typos is recognised, any other is not', () => {
  const words = ['list', 'start', 'stop', 'ip']
  assert.deepEqual(
    ['lst', 'strat', 'stpo', 'banana', 'x'].map((word) => nearest(word, words)),
    ['list', 'start', 'stop', undefined, undefined],
  )
})
