// Goal: an import that dies at any step leaves one complete template. Method: the files after each step, created manually.
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { defaultPaths, templatesDirectory } from '../src/host/paths.ts'
import { clearUnfinished } from '../src/recover/clear-unfinished.ts'
import { temporaryDirectory } from './temporary-directory.ts'

type Files = Readonly<Record<string, string>>
const old: Files = { 'a.qcow2': 'old', 'a.json': 'old' }
const fresh: Files = { 'a.qcow2': 'new', 'a.json': 'new' }

/** The files when it dies, and the expected files after the next start. */
const steps: readonly (readonly [string, Files, Files])[] = [
  ['the copy is being made', { ...old, 'a.qcow2.tmp': 'ne' }, old],
  ['it is being converted', { ...old, 'a.qcow2.tmp': 'raw', 'a.qcow2.qcow2.tmp': 'n' }, old],
  ['the facts are being written', { ...old, 'a.qcow2.tmp': 'new', 'a.json.next.tmp': '{' }, old],
  ['the facts wait', { ...old, 'a.qcow2.tmp': 'new', 'a.json.next': 'new' }, old],
  [
    'the facts of a converted one wait',
    { ...old, 'a.qcow2.qcow2.tmp': 'new', 'a.json.next': 'new' },
    old,
  ],
  ['the image is in its place', { ...old, 'a.qcow2': 'new', 'a.json.next': 'new' }, fresh],
  ['all is in its place', fresh, fresh],
  ['there was none and the facts wait', { 'a.qcow2.tmp': 'new', 'a.json.next': 'new' }, {}],
  ['there was none and the image is there', { 'a.qcow2': 'new', 'a.json.next': 'new' }, fresh],
  ['it is being deleted', { 'a.json': 'old' }, {}],
]

test('an interrupted import leaves the previous template or the new one, and nothing else', async () => {
  for (const [step, files, expected] of steps) {
    await using directory = await temporaryDirectory()
    const paths = { ...defaultPaths, data: directory.at('data'), run: directory.at('run') }
    const templates = templatesDirectory(paths)
    await mkdir(templates, { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(join(templates, name), text)
    await clearUnfinished(paths)
    const left = await Promise.all(
      (await readdir(templates)).map(async (name) => [
        name,
        await readFile(join(templates, name), 'utf8'),
      ]),
    )
    assert.deepEqual(Object.fromEntries(left), expected, step)
  }
})
