// `skerry` as a user types it: the program itself in a separate process, with its own home directory.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export const PROGRAM = join(import.meta.dirname, '../../apps/cli/bin/skerry')

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Person {
  /** Runs a program; `typed` is its standard input. */
  readonly run: (words: readonly string[], typed?: string) => Promise<Ran>
  /** Runs `skerry` with these arguments. */
  readonly skerry: (words: readonly string[], typed?: string) => Promise<Ran>
  /** The same, which must succeed; returns its output. */
  readonly does: (...words: readonly string[]) => Promise<string>
}

/** A user whose files and working directory are this directory. */
export function personIn(home: string): Person {
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: join(home, 'config') }
  const run: Person['run'] = async ([program = '', ...words], typed = '') => {
    const child = spawn(program, words, { cwd: home, env, stdio: 'pipe' })
    child.stdin.end(typed)
    const ended = once(child, 'close') as Promise<[number]>
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    return { code, out, err }
  }
  const skerry: Person['skerry'] = (words, typed) => run([PROGRAM, ...words], typed)
  return {
    run,
    skerry,
    does: async (...words) => {
      const { code, out, err } = await skerry(words)
      assert.equal(code, 0, `skerry ${words.join(' ')}: ${out}${err}`)
      return out
    },
  }
}
