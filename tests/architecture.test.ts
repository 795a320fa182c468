// Goal: the code has the structure that docs/design/architecture.md describes. Method: read the page and every import.
// If you are here because this failed: the message names the rule; the page gives its reason.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = `${import.meta.dirname}/..`

const page = readFileSync(`${root}/docs/design/architecture.md`, 'utf8')

/** Which packages a package or app may import: the lines of the page with ▸. */
const mayImport: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  [...page.matchAll(/^((?:packages|apps)\/\S+) .*▸ (.+)$/gm)].map(([, name = '', allowed = '']) => [
    name,
    allowed.split(' ').filter((each) => each !== 'nothing'),
  ]),
)

/** The folders of a package or app, lowest first: the block `layers` of the page. */
const layers = [...(/```layers\n([^]*?)```/.exec(page)?.[1] ?? '').matchAll(/^(\S+) +(.+)$/gm)].map(
  ([, name = '', order = '']) => ({ name, order: order.split(' ') }),
)

const read = (file: string) => ({ file, text: readFileSync(`${root}/${file}`, 'utf8') })
const files = globSync('{packages,apps}/*/src/**/*.{ts,tsx}', { cwd: root }).map(read)
const written = files.filter(({ file }) => !file.endsWith('.gen.ts'))
const everything = globSync('{packages,apps,tools,tests}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).map(read)

const offenders = (rule: (file: string, text: string) => boolean, among = written): string[] =>
  among.filter(({ file, text }) => rule(file, text)).map(({ file }) => file)

const imports = (text: string): string[] =>
  [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) => target)

/** Whether a relative import leaves the package or app of its file. */
const isOutside = (file: string, target: string): boolean =>
  target.startsWith('.') &&
  !join(dirname(file), target).startsWith(`${file.split('/').slice(0, 2).join('/')}/`)

test('every package and app is on the page', () => {
  const names = new Set(files.map(({ file }) => file.split('/').slice(0, 2).join('/')))
  assert.deepEqual([...names].sort(), Object.keys(mayImport).sort())
})

test('packages import only what the page allows', () => {
  const wrong = files.flatMap(({ file, text }) => {
    const name = file.split('/').slice(0, 2).join('/')
    return imports(text)
      .filter((target) => target.startsWith('@skerry/'))
      .filter((target) => !mayImport[name]?.includes(target.split('/')[1] ?? ''))
      .map((target) => `${file} imports ${target}`)
  })
  assert.deepEqual(wrong, [])
})

test('a package is imported by its index, or by another entry that its package.json names', () => {
  const entries = globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const { name, exports } = JSON.parse(read(file).text) as { name: string; exports: object }
    return typeof exports === 'string' ? [] : Object.keys(exports).map((entry) => join(name, entry))
  })
  const wrong = written.flatMap(({ file, text }) =>
    imports(text)
      .filter((target) => !entries.includes(target))
      .filter((target) => /^@skerry\/[^/]+\//.test(target) || isOutside(file, target))
      .map((target) => `${file} imports ${target}`),
  )
  assert.deepEqual(wrong, [])
  const barrels = written.filter(({ file }) => /src\/.+\/index\.ts$/.test(file))
  assert.deepEqual(barrels, [])
  for (const name of Object.keys(mayImport).filter((each) => each.startsWith('packages/')))
    assert.ok(existsSync(`${root}/${name}/src/index.ts`), name)
})

/** Exports that only tests import from outside of their package, and why they stay. */
const forTests: Readonly<Record<string, string>> = {
  'command-line editDistance': 'apps/cli/test compares the names of commands',
  'command-line whyNotOf': 'tests compare what --json prints with its schema',
  'engine decideArrival':
    'moves between hosts have no route yet; tests/guest and tests/faults run them',
  'engine finishArrival': 'the same',
  'engine makeReady': 'the same',
  'engine migrateVm': 'the same',
  'engine prepareArrival': 'the same',
  'engine pingGuest': 'tests wait for booted guests with it',
  'image checkOverlay':
    'the rules for backing files have no caller yet; the mutation tests run them',
  'service healthPorts': 'tests/accept compares the documented ports',
  'service healthServer': 'tests/listeners.slow.ts attacks every listener',
  'service measuredServers': 'tests/accept compares the metrics of every server',
  'service metricTable': 'the same',
  'temporal bundleWorkflows': 'tests start workers of their own',
  'temporal replayHistory': 'apps/workflow/test replays recorded histories',
  'ticket reasons': 'apps/cloud/test compares the codes of the database with it',
  'vm powerCommands': 'tests/guest runs every command in every state',
}

test('what a package exports is used outside of it', () => {
  const published = ['api-client', 'jq', 'libvirt', 'ovsdb', 'serverless-workflow']
  const users = everything.filter(({ file }) => !/^tests\/|\/test\//.test(file))
  const indexes = written.filter(({ file }) => /^packages\/[^/]+\/src\/index\.ts$/.test(file))
  const unused = indexes.flatMap(({ file, text }) => {
    const name = file.split('/')[1] ?? ''
    if (published.includes(name)) return []
    const outside = users.filter(
      ({ file: user, text: its }) =>
        !user.startsWith(`packages/${name}/`) &&
        imports(its).some((target) => new RegExp(`(@skerry|packages)/${name}(/|$)`).test(target)),
    )
    return [...text.matchAll(/export \{([^}]*)\}/g)]
      .flatMap(([, names = '']) => names.split(',').map((each) => each.trim()))
      .filter((each) => each !== '' && !each.startsWith('type '))
      .filter((each) => !outside.some((user) => new RegExp(`\\b${each}\\b`).test(user.text)))
      .map((each) => `${name} ${each}`)
  })
  assert.deepEqual(unused.sort(), Object.keys(forTests).sort())
})

test('folders import downwards only', () => {
  assert.ok(layers.length > 0)
  const wrong = layers.flatMap(({ name, order }) => {
    const layerOf = (file: string): number => {
      const [first = '', ...rest] = file.slice(`${name}/src/`.length).split('/')
      const at = order.indexOf(first)
      return at < 0 && rest.length === 0 ? order.indexOf('.') : at
    }
    return files
      .filter(({ file }) => file.startsWith(`${name}/src/`))
      .flatMap(({ file, text }) => {
        const own = layerOf(file)
        if (own < 0) return [`${file} is in no layer`]
        return imports(text)
          .filter((target) => target.startsWith('.'))
          .filter((target) => layerOf(join(dirname(file), target)) > own)
          .map((target) => `${file} imports ${target}`)
      })
  })
  assert.deepEqual(wrong, [])
})

test("at most 20 files in a folder and 6 loose files at an app's root", () => {
  const counts = new Map<string, number>()
  for (const { file } of everything) {
    if (!/^(packages|apps|tools)\/[^/]+\/src\//.test(file) || file.endsWith('.gen.ts')) continue
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  const wrong = [...counts]
    .filter(([folder, count]) => count > (/^apps\/[^/]+\/src$/.test(folder) ? 6 : 20))
    .map(([folder, count]) => `${folder} has ${count} files`)
  assert.deepEqual(wrong, [])
})

test('every source file is reached: a route, command or operation that no list names does not exist', () => {
  const sources = new Map(files.map(({ file, text }) => [file, text]))
  const reached = new Set<string>()
  const visit = (file: string): void => {
    const text = sources.get(file)
    if (text === undefined || reached.has(file)) return
    reached.add(file)
    for (const target of imports(text)) visit(join(dirname(file), target))
    // What a thread, a process or a bundle starts with.
    for (const [, name = ''] of text.matchAll(/['`]([./\w-]+\.ts)['`]/g)) {
      visit(join(dirname(file), name))
    }
  }
  const starts =
    /\/src\/(?:.+\/)?main\.tsx?$|\/src\/index\.ts$|^packages\/screen\/src\/page\/(?:page|take-address)\.ts$/
  for (const { file } of files) if (starts.test(file)) visit(file)
  for (const file of globSync('{packages,apps}/*/package.json', { cwd: root })) {
    const named = read(file).text.matchAll(/"\.\/(src\/[^"]+\.ts)"/g)
    for (const [, name = ''] of named) visit(join(dirname(file), name))
  }
  for (const { file, text } of everything.filter(({ file }) => file.startsWith('tools/'))) {
    for (const target of imports(text)) visit(join(dirname(file), target))
  }
  const forgotten = [...sources.keys()].filter((file) => !reached.has(file))
  assert.deepEqual(
    forgotten.filter((file) => !file.endsWith('.d.ts')),
    [],
  )
})

test('no file imports itself in a circle, types included', () => {
  const sources = everything.filter(({ file }) => /^(packages|apps|tools)\/[^/]+\/src\//.test(file))
  const targets = new Map(
    sources.map(({ file, text }) => [
      file,
      imports(text)
        .filter((target) => target.startsWith('.'))
        .map((target) => join(dirname(file), target)),
    ]),
  )
  assert.deepEqual(circles(targets), [])
  assert.deepEqual(
    circles(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['a']],
        ['d', ['a']],
      ]),
    ),
    [['a', 'b', 'c']],
  )
})

/** The files that reach themselves, in groups that reach each other (Tarjan). */
function circles(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file) ?? 0)
    stack.push(file)
    for (const next of (targets.get(file) ?? []).filter((each) => targets.has(each))) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(file, Math.min(low.get(file) ?? 0, low.get(next) ?? 0))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1 || targets.get(file)?.includes(file)) found.push(group.sort())
  }
  for (const file of targets.keys()) if (!index.has(file)) visit(file)
  return found
}

test('only the engine speaks to libvirt', () => {
  const outside = offenders(
    (file, text) =>
      !/^packages\/(engine|libvirt)\//.test(file) && imports(text).includes('@skerry/libvirt'),
  )
  assert.deepEqual(outside, [])
})

test('HTTP servers are made in one place, within its bounds', () => {
  const makes = /import \{[^}]*\bcreateServer\b[^}]*\} from 'node:https?'/
  assert.deepEqual(
    offenders((_, text) => makes.test(text)),
    ['packages/service/src/http/listener.ts'],
  )
  const plain = /\bfastify\((?!\{\s*serverFactory)/
  assert.deepEqual(
    offenders((_, text) => plain.test(text)),
    [],
  )
  assert.deepEqual(
    offenders((_, text) => /^import fastify\b/m.test(text)),
    ['packages/service/src/http/api-server.ts'],
  )
})

test('HTTP requests are sent by one client, and by those that are another thing', () => {
  const sends = /import \{[^}]*\brequest\b[^}]*\} from 'node:https?'|(?<![.\w])fetch\(['`\w]/
  assert.deepEqual(offenders((_, text) => sends.test(text)).sort(), [
    // Any public URL, with redirects and without credentials.
    'apps/cli/src/templates/download.ts',
    // Identity servers, whose documents name addresses: by rules of its own.
    'apps/cloud/src/directories/guarded-fetch.ts',
    // The calls of workflows to third-party servers, by address rules of their own.
    'apps/egress/src/fetch-out.ts',
    // A command of vmd itself, to the vmd of this machine.
    'apps/vmd/src/ask-to-stop.ts',
    // Trusts a fingerprint: the host has no certificate yet.
    'apps/vmd/src/host/join.ts',
    // In the browser, too: requests, and the one event stream of all tabs.
    'apps/web/src/api/client.ts',
    'apps/web/src/api/event-stream.ts',
    'packages/cloud-client/src/http-client.ts',
    // Mutual TLS between machines of a cloud.
    'packages/host-api/src/ask.ts',
    // In the browser.
    'packages/screen/src/page/find-out.ts',
    // The Unix socket of egress.
    'packages/service/src/http/ask-egress.ts',
  ])
})

test('the rule for UUIDs is written once, and once more in libvirt, which imports nothing', () => {
  assert.deepEqual(offenders((_, text) => text.includes('[0-9a-f]{8}(')).sort(), [
    'packages/libvirt/src/uuid.ts',
    'packages/vm/src/id.ts',
  ])
})

test('product code imports neither the lab nor a test', () => {
  assert.deepEqual(
    offenders((_, text) =>
      imports(text).some((target) => /@skerry\/lab|\/test\/|tools\//.test(target)),
    ),
    [],
  )
})

test('libvirt and ovsdb can be used by others: they know nothing of ours', () => {
  const others = /^packages\/(libvirt|ovsdb)\//
  assert.deepEqual(
    offenders((file, text) => others.test(file) && /skerry/i.test(text), files),
    [],
  )
})

test('time, chance and the environment are handed in', () => {
  const taken = /new Date\(\)|Date\.now|Math\.random|randomUUID|randomBytes|process\.env/
  // The clock of this file is Temporal's own, the same at every replay; it hands it on.
  const replayed = 'apps/workflow/src/durable/run.ts'
  assert.deepEqual(
    offenders((file, text) => taken.test(text) && !/\/main\.tsx?$/.test(file) && file !== replayed),
    [],
  )
})

test('a program is run in one file per package, from an array and without a shell', () => {
  const runs = offenders((_, text) => imports(text).includes('node:child_process'))
  assert.deepEqual(runs.sort(), [
    'apps/cli/src/machine/child.ts',
    'apps/network/src/engines/child.ts',
    'packages/engine/src/host/tool.ts',
  ])
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
  assert.deepEqual(translators, ['packages/engine/src/host/to-fault.ts'])
})

test('no decorators, no enums, no namespaces: Node runs the files as they are', () => {
  const syntax = /^\s*@\w+\(|^(export )?(declare )?(const )?enum |^(export )?namespace /m
  assert.deepEqual(
    offenders((_, text) => syntax.test(text), everything),
    [],
  )
})

test('no folder or file is called common, util or the like', () => {
  const junk = /(^|\/)(common|shared|utils?|helpers?|lib|misc|core|manager|handler|base)(\/|\.ts$)/
  assert.deepEqual(
    everything.map(({ file }) => file).filter((file) => junk.test(file)),
    [],
  )
})
