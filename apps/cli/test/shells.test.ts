// Goal: Tab completes correctly in bash and zsh. Method: both shells on a terminal, with simulated keys.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot } from '@skerry/lab'

import { answer, startDaemon } from './terminal.ts'
import { startTyping, type Typing } from './typing.ts'

const skip = reasonWithoutRoot('terminal') ?? false
const BIN = join(import.meta.dirname, '../bin')
const run = promisify(execFile)

const shells = {
  'bash with the script sourced': {
    command: 'bash --norc --noprofile -i',
    // As bash-completion sets it: one Tab shows all candidates.
    begin: "bind 'set show-all-if-ambiguous on'; source <(skerry completion bash)",
  },
  'zsh with the script sourced': {
    command: 'zsh -f -i',
    begin: 'autoload -Uz compinit; compinit -D -u; source <(skerry completion zsh)',
  },
  'zsh with the script in its path': {
    command: 'zsh -f -i',
    begin: 'fpath=($COMPLETIONS $fpath); autoload -Uz compinit; compinit -D -u',
  },
} as const

for (const [name, { command, begin }] of Object.entries(shells)) {
  test(`${name} completes commands, VMs and options`, { skip }, async () => {
    await using stack = new AsyncDisposableStack()
    const daemon = stack.use(
      await startDaemon((_, reply) => answer(reply, 200, ['web-1', 'web-2', 'database'])),
    )
    const home = await mkdtemp(join(tmpdir(), 'shells-'))
    stack.defer(() => rm(home, { recursive: true, force: true }))
    const path = `${BIN}:${process.env['PATH']}`
    const { stdout: script } = await run('skerry', ['completion', 'zsh'], { env: { PATH: path } })
    await writeFile(join(home, '_skerry'), script)
    const shell = stack.use(
      startTyping(command, {
        PATH: path,
        HOME: home,
        COMPLETIONS: home,
        TERM: 'xterm',
        LC_ALL: 'C.UTF-8',
        SKERRY_URL: daemon.url,
        PS1: '%',
        HISTFILE: '',
      }),
    )
    // The shell assembles the marker, so that the typed line is not mistaken for its output.
    shell.type(`stty cols 200; ${begin}; echo re''ady\n`)
    await shell.sees(/ready\r?\n/)

    assert.deepEqual(await offered(shell, 'skerry st\t'), ['start', 'stop'])
    assert.deepEqual(await offered(shell, 'skerry start web-\t'), ['web-1', 'web-2'])
    await finishes(shell, 'skerry start dat\t', 'skerry start database')
    await finishes(shell, 'skerry snapshot rev\t', 'skerry snapshot revert')
    await finishes(shell, 'skerry stop web-1 --fo\t', 'skerry stop web-1 --force')
  })
}

const HOME = '\u0001'
const END = '\u0005'
const CLEAR_LINE = '\u0015'

/** The candidates shown below the line, if there are several. */
async function offered(shell: Typing, keys: string): Promise<readonly string[]> {
  shell.type(keys)
  const begun = lastWord(keys)
  const shown = new RegExp(`((?:${begun}\\S+ +)+${begun}\\S+)\\s`)
  const seen = await shell.sees(shown)
  shell.type(CLEAR_LINE)
  return shown.exec(seen)?.[1]?.split(/ +/) ?? []
}

/** The only candidate is inserted, and the line is then passed to echo; a shell may remove its trailing blank. */
async function finishes(shell: Typing, keys: string, line: string): Promise<void> {
  shell.type(keys)
  await shell.sees(new RegExp(lastWord(line).slice(lastWord(keys).length)))
  shell.type(`${HOME}echo '<${END}>'\n`)
  await shell.sees(new RegExp(`[\r\n]<${line} ?>`))
}

const lastWord = (line: string): string => line.trimEnd().split(' ').at(-1) ?? ''
