// The programs of ansible-core with the collection of this repository, in a directory of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'

import { pythonWith } from '@skerry/lab'

const LIST = join(import.meta.dirname, 'requirements.txt')

export interface Run {
  readonly code: number | null
  readonly output: string
  readonly seconds: number
}

export interface Ansible {
  /** Runs a line of a shell in its directory. */
  sh(line: string): Promise<Run>
}

/** `env`: what every program gets. The collections that it installs are in `home` too. */
export async function openAnsible(
  home: string,
  env: Readonly<Record<string, string>>,
): Promise<Ansible> {
  const bin = join(home, 'bin')
  await mkdir(bin)
  await writePrograms(bin, await pythonWith(LIST))
  const own = {
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    LC_ALL: 'C.UTF-8',
    ANSIBLE_HOME: join(home, 'ansible'),
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_INVENTORY_UNPARSED_WARNING: 'false',
    ...env,
  }
  return {
    async sh(line) {
      const began = performance.now()
      const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1; ${line}`], {
        cwd: home,
        env: own,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close')
      const output = await textOf(child.stdout)
      const [code] = (await ended) as [number | null]
      return { code, output, seconds: (performance.now() - began) / 1000 }
    },
  }
}

/** The first line of an installed program names the directory in which it was installed, which has another name since. */
async function writePrograms(bin: string, python: string): Promise<void> {
  const installed = await readdir(dirname(python))
  for (const name of installed.filter((each) => each.startsWith('ansible'))) {
    const program = join(bin, name)
    await writeFile(program, `#!/bin/sh\nexec '${python}' '${join(dirname(python), name)}' "$@"\n`)
    await chmod(program, 0o755)
  }
}

export interface Recap {
  readonly ok: number
  readonly changed: number
  readonly failed: number
  readonly ignored: number
}

/** The last line of a play: what it did on localhost. */
export function recapOf({ output }: Run): Recap {
  const [line = ''] = /^localhost +: .*$/m.exec(output) ?? []
  const number = (name: string) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(line)?.[1] ?? -1)
  return {
    ok: number('ok'),
    changed: number('changed'),
    failed: number('failed'),
    ignored: number('ignored'),
  }
}

/** Every action that a play with -v reports, in order. */
export const actionsOf = ({ output }: Run): string[] =>
  [...output.matchAll(/=> (?:\(item=.*?\) => )?(\{.*\})$/gm)].flatMap(([, json = '']) => {
    try {
      return (JSON.parse(json) as { readonly actions?: readonly string[] }).actions ?? []
    } catch {
      return []
    }
  })
