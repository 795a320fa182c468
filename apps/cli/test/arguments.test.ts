import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isGroup, nextWords } from '@skerry/command-line'

import { commands } from '../src/commands.ts'
import { sizeMiB, wholeNumber } from '../src/terminal/number.ts'
import { skerry } from './terminal.ts'

/** Nothing listens there: a command that gets as far as a request exits with 3, not with 2. */
const NOWHERE = 'http://127.0.0.1:9'
/** Columns of a usual terminal window. */
const WIDE = 100

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
    [['share', 'fly'], /there is no command share fly/, /skerry share --help lists all commands/],
    [['share', 'lits'], /there is no command share lits/, /did you mean skerry share list\?/],
    [['admin', 'hosts', 'list'], /no command admin hosts/, /did you mean skerry admin host\?/],
    [['admin', 'user', 'rm'], /USER@ORG is missing/, /usage: skerry admin user rm USER@ORG/],
    [
      ['admin', 'org', 'list', '--on', 'x'],
      /Unknown option '--on'/,
      /usage: skerry admin org list/,
    ],
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
  for (const word of nextWords(commands, '')) {
    assert.match(help.out, new RegExp(`^  ${word} .*\\w{2}`, 'm'))
  }
  for (const line of help.out.split('\n')) assert.ok(line.length <= WIDE, line)
  assert.match(
    help.out,
    /0 done, 1 failed, 2 invalid usage, 3 vmd or cloud unreachable, 4 timed out/,
  )
})

test('a group without a command lists its commands with exit code 2; with --help, and in skerry help, with 0', async () => {
  const prefixes = commands.flatMap(({ name }) => {
    const words = name.split(' ')
    return words.slice(1).map((_, at) => words.slice(0, at + 1))
  })
  const groups = [...new Set(prefixes.map((words) => words.join(' ')))].filter((group) =>
    isGroup(commands, group),
  )
  assert.ok(groups.includes('share') && groups.includes('admin') && groups.includes('admin host'))
  for (const group of groups) {
    const words = group.split(' ')
    const alone = await skerry(NOWHERE, words)
    assert.deepEqual([alone.code, alone.out], [2, ''], group)
    for (const line of [
      [...words, '--help'],
      ['help', ...words],
    ]) {
      const { code, out } = await skerry(NOWHERE, line)
      assert.deepEqual([code, out], [0, alone.err], group)
    }
    const [usage, , summary = ''] = alone.err.split('\n')
    assert.equal(usage, `usage: skerry ${group} COMMAND`)
    assert.ok(summary.length > 10, group)
    for (const word of nextWords(commands, group)) {
      assert.match(alone.err, new RegExp(`^  ${word} .*\\w{2}`, 'm'))
    }
    assert.match(alone.err, new RegExp(`^  (sudo )?skerry ${group} `, 'm'))
    for (const line of alone.err.split('\n').filter((each) => !each.includes('skerry'))) {
      assert.ok(line.length <= WIDE, line)
    }
  }
})

test('a command with a group of its own keeps its arguments: the words of the group are reserved', async () => {
  const both = commands.filter(({ name }) => nextWords(commands, name).length > 0)
  assert.deepEqual(
    both.map(({ name }) => [name, ...nextWords(commands, name)]),
    [['address', 'list', 'take', 'release']],
  )
  for (const line of [
    ['address', '--help'],
    ['help', 'address'],
  ]) {
    const { code, out } = await skerry(NOWHERE, line)
    assert.equal(code, 0)
    assert.match(out, /^usage: skerry address VM /)
    assert.match(out, /named list, take or release: by its id/)
  }
  assert.match((await skerry(NOWHERE, ['address'])).err, /VM is missing/)
  assert.match(
    (await skerry(NOWHERE, ['address', 'list', '--help'])).out,
    /^usage: skerry address list /,
  )
})

test('servers are started with their own options, and their exit code is returned', async () => {
  const { code, programs } = await skerry(NOWHERE, ['vmd', '--port', '9', '--stop-guests', 'all'])
  assert.equal(code, 7)
  const [, ...words] = programs[0] ?? []
  assert.match(words.join(' '), /apps\/vmd\/src\/main\.ts --port 9 --stop-guests all$/)
  const cell = await skerry(NOWHERE, ['cloud-server', '--config', 'a'])
  assert.equal(cell.code, 7)
  assert.match(cell.programs[0]?.slice(1).join(' ') ?? '', /cloud\/src\/main\.ts --config a$/)
})

test('a command of skerry admin runs in a program that gets the parsed line', async () => {
  const line = ['admin', 'user', 'set', '--json', 'bob@blue', '--role', 'user', '--disable']
  const { code, programs } = await skerry(NOWHERE, line)
  assert.equal(code, 7)
  const [, program = '', parsed = '', ...more] = programs[0] ?? []
  assert.match(program, /cloud\/src\/admin\/main\.ts$/)
  assert.deepEqual(more, [])
  assert.deepEqual(JSON.parse(parsed), {
    name: 'admin user set',
    words: ['bob@blue'],
    options: { role: 'user', disable: true },
    json: true,
  })
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
