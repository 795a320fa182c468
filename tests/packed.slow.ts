// Goal: api-client, libvirt and ovsdb can be used without this repository. Method: pack them, install the tarballs without a network in
// an empty directory, import them with plain Node, and compile the examples of their READMEs there.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { packNpm } from '../tools/pack-npm.ts'

const ROOT = join(import.meta.dirname, '..')
/** Paths of sources, so that `tools/ci.ts --changed` finds this file. */
const sources = {
  'api-client': '../packages/api-client/src/index.ts',
  libvirt: '../packages/libvirt/src/index.ts',
  ovsdb: '../packages/ovsdb/src/index.ts',
}
const packages = Object.keys(sources)
const run = promisify(execFile)
const home = await mkdtempDisposable(join(tmpdir(), 'packed-'))
after(() => home[Symbol.asyncDispose]())

before(async () => {
  const cwd = home.path
  await writeFile(join(cwd, 'package.json'), '{ "type": "module" }')
  const tarballs = await Promise.all(packages.map(async (name) => packNpm(name, cwd)))
  await run('npm', ['install', '--offline', '--ignore-scripts', ...tarballs], { cwd })
})

for (const [name, source] of Object.entries(sources)) {
  test(`${name} is imported by plain Node, with all that its sources export`, async () => {
    const program = `console.log(JSON.stringify(Object.keys(await import('@skerry/${name}'))))`
    const args = ['--no-strip-types', '--input-type=module', '-e', program]
    const { stdout } = await run(process.execPath, args, { cwd: home.path })
    const exported = Object.keys((await import(source)) as object)
    assert.deepEqual(JSON.parse(stdout), exported.toSorted())
  })

  test(`${name} holds JavaScript and types, and needs no other package`, async () => {
    const installed = join(home.path, 'node_modules/@skerry', name)
    const text = await readFile(join(installed, 'package.json'), 'utf8')
    const { dependencies, exports } = JSON.parse(text) as { dependencies: object; exports: object }
    assert.deepEqual(dependencies, {})
    const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
    assert.deepEqual(exports, { '.': entry })
  })
}

test('their types compile the examples of their READMEs', async () => {
  const examples = packages.map(async (name) => {
    const readme = await readFile(join(ROOT, 'packages', name, 'README.md'), 'utf8')
    const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? assert.fail(name)
    await writeFile(join(home.path, `${name}.ts`), example)
  })
  await Promise.all(examples)
  const compilerOptions = {
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    // The only package besides these that the types need.
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  const config = { compilerOptions, files: packages.map((name) => `${name}.ts`) }
  await writeFile(join(home.path, 'tsconfig.json'), JSON.stringify(config))
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', home.path])
})
