// Goal: every command line that the web UI shows can be typed as it is. Method: the lines in its source, parsed by `skerry` itself;
// what the page fills in is a word.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { commands } from '../apps/cli/src/commands.ts'
import { readLine } from '../apps/cli/src/run-command.ts'

const root = join(import.meta.dirname, '..')

/** Values of variables that are part of a command's name. */
const words: Readonly<Record<string, string>> = { type: 'vm', verb: 'start' }

/** A choice stands for its first value, options that the page adds for none, anything else for a word. */
const filledIn = (line: string): string =>
  line.replaceAll(/\$\{([^}]*)\}/g, (_, code: string) =>
    code.startsWith('options(') ? '' : (/\? '([^']*)'/.exec(code)?.[1] ?? words[code] ?? 'x'),
  )

const withoutComments = (text: string): string => text.replaceAll(/^ *\/\/.*$/gm, '')

const shown = globSync('apps/web/src/**/*.{ts,tsx}', { cwd: root }).flatMap((file) =>
  [
    ...withoutComments(readFileSync(join(root, file), 'utf8')).matchAll(
      /`(skerry (?:\$\{[^}]*\}|[^`])*)`|"(skerry [^"]*)"/g,
    ),
  ].map(([, template, text = '']) => [filledIn(template ?? text), file] as const),
)

test('every command line of the web UI is one that skerry accepts', () => {
  assert.ok(shown.length > 25, String(shown.length))
  const wrong = shown.flatMap(([line, file]) => {
    try {
      readLine(commands, line.split(/\s+/).slice(1).filter(Boolean))
      return []
    } catch (error) {
      return [`${file}: ${line}: ${(error as Error).message}`]
    }
  })
  assert.deepEqual(wrong, [])
})
