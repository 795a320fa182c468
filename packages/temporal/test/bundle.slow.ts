// Goal: a stored bundle is used exactly while it is up to date. Method: a real bundle, and copies of it with other
// code, which show which one was used.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { readKeptBundle } from '../src/bundle.ts'
import { bundleWorkflows, keepBundle } from '../src/index.ts'

const SOURCES = join(import.meta.dirname, 'workflows')
const MODULES = join(import.meta.dirname, '../../../node_modules')
const MARKED = 'code that was kept'

let dir = ''
let first = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bundle-'))
  await symlink(MODULES, join(dir, 'node_modules'))
  first = await workflows('first')
})
after(() => rm(dir, { recursive: true, force: true }))

async function workflows(name: string): Promise<string> {
  await cp(SOURCES, join(dir, name), { recursive: true })
  return join(dir, name, 'index.ts')
}

/** Another copy, with a stored bundle that differs only in its code. */
async function marked(name: string): Promise<string> {
  const path = await workflows(name)
  const kept = JSON.parse(await readFile(keptOf(first), 'utf8')) as object
  await writeFile(keptOf(path), JSON.stringify({ ...kept, code: MARKED }))
  return path
}

const keptOf = (path: string): string => path.replace('.ts', '.bundle.json')

test('the stored bundle equals the bundled code, and is made once', async () => {
  assert.equal(await readKeptBundle(first, undefined), undefined)
  assert.equal(await keepBundle(first), true)
  assert.equal(await keepBundle(first), false)
  const kept = JSON.parse(await readFile(keptOf(first), 'utf8')) as {
    readonly code: string
    readonly files: Record<string, string>
  }
  assert.match(kept.code, /twoSteps/)
  const names = Object.keys(kept.files)
  assert.ok(names.includes('index.ts'))
  assert.ok(names.some((name) => name.includes('@temporalio/workflow/')))
  assert.ok(names.some((name) => name.endsWith('@temporalio/worker/package.json')))
})

test('the stored bundle is used while nothing has changed', async () => {
  assert.equal(await bundleWorkflows(await marked('same')), MARKED)
})

test('a changed or missing file, another converter, a damaged bundle: the stored bundle is not used', async () => {
  const changed = await marked('changed')
  assert.equal(await readKeptBundle(changed, undefined), MARKED)
  assert.equal(await readKeptBundle(changed, join(dir, 'converter.ts')), undefined)
  await writeFile(changed, `${await readFile(changed, 'utf8')}\n// Changed.\n`)
  assert.equal(await readKeptBundle(changed, undefined), undefined)
  await rm(changed)
  assert.equal(await readKeptBundle(changed, undefined), undefined)

  for (const [name, text] of Object.entries({ cut: '{"files": {', none: '{"files": {}}' })) {
    const path = await marked(name)
    await writeFile(keptOf(path), text)
    assert.equal(await readKeptBundle(path, undefined), undefined, name)
  }
})

test('without a valid stored bundle, workflows are bundled', async () => {
  const path = await marked('bundled')
  await writeFile(path, `${await readFile(path, 'utf8')}\n// Changed.\n`)
  assert.match(await bundleWorkflows(path), /twoSteps/)
})

test('workflows are bundled directly from TypeScript, once per process', async () => {
  const path = join(SOURCES, 'index.ts')
  const code = await bundleWorkflows(path)
  assert.match(code, /twoSteps/)
  assert.match(code, /timed-out/, 'a package of ours is in the bundle')
  assert.equal(await bundleWorkflows(path), code)
})
