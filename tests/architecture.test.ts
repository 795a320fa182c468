// Goal: the house stays as docs/house.md draws it. Method: read every import there is.
// If you are here because this failed: the message names the rule; docs/house.md says why it is there.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = `${import.meta.dirname}/..`

/** Who may import whom. A line is added here by a decision, not by a need. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'packages/fault': [],
  'packages/vm': [],
  'packages/libvirt': [],
  'packages/image': ['fault'],
  'packages/xml': ['fault'],
  'packages/service': ['fault'],
  'packages/host-api': ['fault', 'vm'],
  'packages/site': [],
  'packages/postgres': ['fault'],
  'packages/temporal': ['fault'],
  'packages/ticket': ['fault', 'postgres', 'vm'],
  'packages/screen': ['fault'],
  'packages/cloud-client': ['fault', 'vm', 'xml'],
  'apps/egress': ['fault', 'service'],
  'apps/workflow': [
    ...['cloud-client', 'fault', 'host-api', 'postgres', 'service', 'temporal', 'vm', 'xml'],
  ],
  'apps/console': ['fault', 'host-api', 'postgres', 'screen', 'service', 'ticket', 'vm'],
  'apps/cli': ['cloud-client', 'fault', 'site', 'vm', 'xml'],
  'apps/cloud': [
    ...['fault', 'host-api', 'image', 'postgres', 'service', 'temporal', 'ticket', 'vm', 'xml'],
  ],
  'apps/vmd': ['engine', 'fault', 'host-api', 'screen', 'service', 'vm', 'xml'],
  'packages/engine': ['fault', 'image', 'libvirt', 'vm', 'xml'],
}

const read = (file: string) => ({ file, text: readFileSync(`${root}/${file}`, 'utf8') })
const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: root }).map(read)
const written = files.filter(({ file }) => !file.endsWith('.gen.ts'))
const everything = globSync('{packages,apps,tools,tests}/**/*.ts', {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).map(read)

const offenders = (rule: (file: string, text: string) => boolean, among = written): string[] =>
  among.filter(({ file, text }) => rule(file, text)).map(({ file }) => file)

const imports = (text: string): string[] =>
  [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) => target)

test('every room has its line', () => {
  const rooms = new Set(files.map(({ file }) => file.split('/').slice(0, 2).join('/')))
  assert.deepEqual([...rooms].sort(), Object.keys(mayImport).sort())
})

test('arrows point the way they are drawn', () => {
  const wrong = files.flatMap(({ file, text }) => {
    const room = file.split('/').slice(0, 2).join('/')
    return imports(text)
      .filter((target) => target.startsWith('@skerry/'))
      .filter((target) => !mayImport[room]?.includes(target.slice('@skerry/'.length)))
      .map((target) => `${file} imports ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('a room is entered by its door', () => {
  const wrong = written.flatMap(({ file, text }) =>
    imports(text)
      .filter((target) => /^@skerry\/[^/]+\/|^\.\.\/\.\.\/|^\.\.\/.*\/src\//.test(target))
      .map((target) => `${file} imports ${target}`),
  )
  assert.deepEqual(wrong, [])
  const barrels = written.filter(({ file }) => /src\/.+\/index\.ts$/.test(file))
  assert.deepEqual(barrels, [])
  for (const room of Object.keys(mayImport).filter((each) => each.startsWith('packages/')))
    assert.ok(existsSync(`${root}/${room}/src/index.ts`), room)
})

test('only the engine speaks to libvirt', () => {
  const outside = offenders(
    (file, text) =>
      !/^packages\/(engine|libvirt)\//.test(file) && imports(text).includes('@skerry/libvirt'),
  )
  assert.deepEqual(outside, [])
})

test('product code imports neither the lab nor a test', () => {
  assert.deepEqual(
    offenders((_, text) =>
      imports(text).some((target) => /@skerry\/lab|\/test\/|tools\//.test(target)),
    ),
    [],
  )
})

test('libvirt can be used by others: it knows nothing of ours', () => {
  assert.deepEqual(
    offenders((file, text) => file.startsWith('packages/libvirt/') && /skerry/i.test(text), files),
    [],
  )
})

test('time, chance and the environment are handed in', () => {
  const taken = /new Date\(\)|Date\.now|Math\.random|randomUUID|randomBytes|process\.env/
  // The clock of this file is Temporal's own, the same at every replay; it hands it on.
  const replayed = 'apps/workflow/src/durable/run.ts'
  assert.deepEqual(
    offenders((file, text) => taken.test(text) && !file.endsWith('/main.ts') && file !== replayed),
    [],
  )
})

test('a program is run in one place of a room, from an array and without a shell', () => {
  const runs = offenders((_, text) => imports(text).includes('node:child_process'))
  assert.deepEqual(runs.sort(), ['apps/cli/src/child.ts', 'packages/engine/src/tool.ts'])
  assert.deepEqual(
    offenders((_, text) => /\bshell:|\bexecSync\b|(?<!\.)\bexec\(/.test(text)),
    [],
  )
})

test('XML is built, not glued', () => {
  // A literal `<name` in a template or string of product code, outside of the builder itself.
  const glued = /[`'"]<[A-Za-z/?]/
  assert.deepEqual(
    offenders((file, text) => glued.test(text) && !file.startsWith('packages/xml/')),
    [],
  )
})

test('LibvirtError becomes a Fault in one file', () => {
  const translators = offenders(
    (file, text) =>
      file.startsWith('packages/engine/') && /instanceof (libvirt\.)?LibvirtError/.test(text),
  )
  assert.deepEqual(translators, ['packages/engine/src/to-fault.ts'])
})

test('no decorators, no enums, no namespaces: Node runs the files as they are', () => {
  const syntax = /^\s*@\w+\(|^(export )?(declare )?(const )?enum |^(export )?namespace /m
  assert.deepEqual(
    offenders((_, text) => syntax.test(text), everything),
    [],
  )
})

test('no junk rooms', () => {
  const junk = /(^|\/)(common|shared|utils?|helpers?|lib|misc|core|manager|handler|base)(\/|\.ts$)/
  assert.deepEqual(
    everything.map(({ file }) => file).filter((file) => junk.test(file)),
    [],
  )
})
