// Goal: a name of either dialect is spelt in one file. Method: the sources are read; whoever spells one elsewhere is named.
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'

import { original, ours, type Dialect } from '../src/http/dialect.ts'

const ROOT = join(import.meta.dirname, '../../..')
const TABLE = 'apps/cloud/src/http/dialect.ts'

/** Programs of ours that talk to one another are no clients, and have their own. */
const shared = new Set(['x-request-id'])

/** What could stand in a source, of everything that the table has. */
const spellings = ({ media, namespace, urn, ...dialect }: Dialect): string[] =>
  [
    ...[dialect.tokenHeader, dialect.cookie, dialect.requestIdHeader],
    ...['X', 'admin.X'].map((each) => media(each).split('X')[0] ?? ''),
    ...['any', 'versions'].map(namespace),
    ...['vm', 'org', 'task'].map((kind) => urn(kind, '')),
  ].filter((each) => !shared.has(each))

async function whoSpells(names: readonly string[], where: string): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob(where, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
    const text = (await readFile(join(ROOT, file), 'utf8')).toLowerCase()
    const told = names.filter((name) => text.includes(name.toLowerCase()))
    if (told.length > 0) found.push(relative(ROOT, join(ROOT, file)))
  }
  return found.toSorted()
}

test('no source of the cloud spells a name of either dialect but the table', async () => {
  const names = [...spellings(ours), ...spellings(original)]
  assert.ok(names.length >= 14, names.join())
  assert.deepEqual(await whoSpells(names, 'apps/cloud/src/**/*.ts'), [TABLE])
})

test('no source of the product has the original names but the table', async () => {
  const names = ['vcloud', 'vnd.vmware', 'vmware.com']
  const everywhere = '{apps,packages}/*/src/**/*.{ts,css,html}'
  assert.deepEqual(await whoSpells(names, everywhere), [TABLE])
})

test('which dialect is spoken is asked nowhere but where listeners are opened', async () => {
  const found: string[] = []
  for await (const file of glob('apps/cloud/src/**/*.ts', { cwd: ROOT })) {
    const text = await readFile(join(ROOT, file), 'utf8')
    if (/\bdialect(\.name)?\s*(===|!==|\?[^.?])|\bif \(\s*!?dialect/.test(text)) found.push(file)
    if (/\boriginal\b.*from '.*\/dialect\.ts'/.test(text)) found.push(file)
  }
  assert.deepEqual(found, ['apps/cloud/src/cell.ts'])
})
