// Goal: the help of `skerry` is complete, and a valid man page. Method: the command table compared with the output.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot } from '@skerry/lab'

import { commands } from '../src/commands.ts'
import { outputs } from '../src/help/outputs.ts'
import { readLine } from '../src/run-command.ts'
import { skerry } from './terminal.ts'

const NOWHERE = 'http://127.0.0.1:9'
const run = promisify(execFile)

test('every command explains itself: usage, options, exit codes, an example and the next step', async () => {
  for (const { name, options, examples, next, program } of commands) {
    const { code, out } = await skerry(NOWHERE, [...name.split(' '), '--help'])
    assert.equal(code, 0, name)
    assert.ok(out.startsWith(`usage: skerry ${name}`), out)
    for (const option of [...Object.keys(options), 'help']) {
      assert.match(out, new RegExp(`^  --${option} .*\\w`, 'm'))
    }
    const codes = program === 'server' ? /^exit codes: 0 .*, 1 ./m : /^exit codes: 0 .*, 1 .*, 2 ./m
    assert.match(out, codes)
    assert.ok(examples.length > 0, name)
    for (const example of examples) assert.ok(out.includes(`\n  ${example}\n`), out)
    assert.ok(out.includes(`\nnext: ${next}\n`), out)
    assert.equal((await skerry(NOWHERE, ['help', ...name.split(' ')])).out, out)
  }
})

test('every example is a valid command line', async () => {
  for (const { name, examples } of commands) {
    for (const example of examples) {
      const words = await wordsOf(example)
      assert.match(example, /^(sudo )?skerry /)
      assert.equal(readLine(commands, words).command.name, name, example)
      // The files of these examples do not exist here.
      if (/\.(pub|yaml|qcow2)/.test(example)) continue
      // It would ask a name server, which may take a minute to know no such host.
      if (/^skerry login .*https:/.test(example)) continue
      const { code, err } = await skerry(NOWHERE, words)
      assert.notEqual(code, 2, `${example}: ${err}`)
    }
  }
})

/** They print the output of another program, a script, or help. */
const withoutJson = new Set([
  'vmd',
  'cloud-server',
  'console-server',
  'workflow-server',
  'workflow-egress',
  'network-server',
  'ssh',
  'completion',
  'complete',
  'help',
])

test('every command has a schema of what --json prints, and shows it', async () => {
  const named = commands.map(({ name }) => name).filter((name) => !withoutJson.has(name))
  assert.deepEqual(named.toSorted(), Object.keys(outputs).toSorted())
  for (const name of named) {
    const { out } = await skerry(NOWHERE, [...name.split(' '), '--help', '--json'])
    const { usage, output } = JSON.parse(out) as { usage: string; output: object }
    assert.ok(usage.startsWith(name))
    assert.deepEqual(output, JSON.parse(JSON.stringify(outputs[name])))
  }
})

/** Splits a line as a shell does. */
async function wordsOf(line: string): Promise<readonly string[]> {
  const { stdout } = await run('bash', ['-c', `printf '%s\\0' ${line.replace(/^sudo /, '')}`])
  return stdout.split('\0').slice(1, -1)
}

test(
  'help --man is a page that man, groff and mandoc read without a warning',
  { skip: reasonWithoutRoot('terminal') ?? false },
  async () => {
    const { code, out } = await skerry(NOWHERE, ['help', '--man'])
    assert.equal(code, 0)
    await using stack = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-page-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const page = join(directory, 'skerry.1')
    await writeFile(page, out)
    assert.deepEqual(await run('mandoc', ['-T', 'lint', page]), { stdout: '', stderr: '' })
    assert.equal((await run('groff', ['-man', '-ww', '-Tutf8', page])).stderr, '')
    const env = { ...process.env, MANWIDTH: '200', MAN_KEEP_FORMATTING: '', LC_ALL: 'C.UTF-8' }
    const { stdout, stderr } = await run('man', ['-l', '-Tutf8', page], { env })
    assert.equal(stderr, '')
    // oxlint-disable-next-line no-control-regex
    const read = stdout.replace(/\u001B\[[\d;]*m|.\u0008/g, '')
    assert.match(read, /^SKERRY\(1\).*SKERRY\(1\)$/m)
    for (const head of ['NAME', 'SYNOPSIS', 'COMMANDS', 'EXIT STATUS', 'ENVIRONMENT', 'FILES']) {
      assert.match(read, new RegExp(`^${head}$`, 'm'))
    }
    for (const { name, options, examples } of commands) {
      assert.match(read, new RegExp(`^ +skerry ${name}( |$)`, 'm'))
      for (const option of Object.keys(options)) assert.ok(read.includes(`--${option}`), option)
      for (const example of examples) assert.ok(read.includes(example), example)
    }
  },
)
