// Goal: the names of the dialects occur in one file only. Method: the sources are searched; other occurrences are reported.
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'

import { original, ours, type Dialect } from '../src/dialect/dialect.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TABLE = 'apps/cloud/src/dialect/dialect.ts'

/** Our own programs that talk to each other are not clients, and have their own names. */
const shared = new Set(['x-request-id'])

/** All names of the table that could occur in a source. */
const spellings = ({ media, namespace, urn, ...dialect }: Dialect): string[] =>
  [
    dialect.tokenHeader,
    dialect.secondFactorHeader,
    dialect.cookie,
    dialect.pageCookie ?? dialect.cookie,
    dialect.requestIdHeader,
    ...['X', 'admin.X'].map((each) => media(each).split('X')[0] ?? ''),
    ...['any', 'versions'].map(namespace),
    ...['vm', 'org', 'task'].map((kind) => urn(kind, '')),
  ].filter((each) => !shared.has(each))

async function whoSpells(names: readonly string[], where: string): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob(where, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
    const text = (await readFile(join(ROOT, file), 'utf8')).toLowerCase()
    const named = names.filter((name) => text.includes(name.toLowerCase()))
    if (named.length > 0) found.push(relative(ROOT, join(ROOT, file)))
  }
  return found.toSorted()
}

test('no source of the cloud except the table contains a name of either dialect', async () => {
  const names = [...spellings(ours), ...spellings(original)]
  assert.ok(names.length >= 14, names.join())
  assert.deepEqual(await whoSpells(names, 'apps/cloud/src/**/*.ts'), [TABLE])
})

test('no source of the product except the table contains names of the original dialect', async () => {
  const names = ['vcloud', 'vnd.vmware', 'vmware.com']
  const everywhere = '{apps,packages}/*/src/**/*.{ts,css,html}'
  assert.deepEqual(await whoSpells(names, everywhere), [TABLE])
})

test('the dialect is chosen only where listeners are opened', async () => {
  const found: string[] = []
  for await (const file of glob('apps/cloud/src/**/*.ts', { cwd: ROOT })) {
    const text = await readFile(join(ROOT, file), 'utf8')
    if (/\bdialect(\.name)?\s*(===|!==|\?[^.?])|\bif \(\s*!?dialect/.test(text)) found.push(file)
    if (/\boriginal\b.*from '.*\/dialect\.ts'/.test(text)) found.push(file)
  }
  assert.deepEqual(found, ['apps/cloud/src/cell/start-cell.ts'])
})
