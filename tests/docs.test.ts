// Goal: statements of the documents can be verified and run. Method: read them as a reader would.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = `${import.meta.dirname}/..`
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documents = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root })
const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)

test('every link leads somewhere', () => {
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(root, dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

test('every link to a heading leads to one', () => {
  // As the pages that show them make an address of a heading.
  const anchors = (text: string) =>
    new Set(
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      ),
    )
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
      .filter(([, target = '', anchor = '']) => {
        const other = target === '' ? file : join(dirname(file), target)
        return other.endsWith('.md') && !anchors(read(other)).has(anchor)
      })
      .map(([, target, anchor]) => `${file}: ${target}#${anchor}`),
  )
  assert.deepEqual(broken, [])
})

test('every threat names tests that exist, and every attack test stands for one', () => {
  const named = new Set(
    read('docs/design/security.md').match(/(?:tests|apps|packages|tools)\/[\w/.-]+\.test\.ts/g),
  )
  assert.deepEqual(
    [...named].filter((file) => !existsSync(join(root, file))),
    [],
  )
  const attacks = globSync('tests/attack/*.test.ts', { cwd: root })
  assert.deepEqual(
    attacks.filter((file) => !named.has(file)),
    [],
  )
})

test('every npm script that is named exists', () => {
  const unknown = documents.flatMap((file) =>
    [...read(file).matchAll(/npm run (?:-s )?([a-z][a-z:-]*[a-z])/g)]
      .map(([, name = '']) => name)
      .filter((name) => !scripts.includes(name))
      .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('every promise names a test that exists', () => {
  const rows = [
    ...read('docs/reference/guarantees.md').matchAll(/^\| (?!Promise|-)(.+) \| (.+) \|$/gm),
  ]
  assert.ok(rows.length > 20, `${rows.length} promises`)
  const unkept = rows.flatMap(([, promise = '', keeper = '']) => {
    const [, file, name] = /^`([^`]+)`(?: › (.+))?$/.exec(keeper) ?? []
    if (file === undefined || !existsSync(join(root, file))) return [`${promise}: ${keeper}`]
    return name === undefined || read(file).includes(name)
      ? []
      : [`${promise}: ${name} is not in ${file}`]
  })
  assert.deepEqual(unkept, [])
})

test('every section of the figures names a command, a commit and a date', () => {
  const sections = read('docs/figures.md').split(/^## /m).slice(1)
  assert.ok(sections.length > 20, `${sections.length} sections`)
  // Only the form: a shallow clone does not have the commits.
  const commit = /\b(?:commits?|clone of|as of|at) [0-9a-f]{7,8}\b/i
  const parts = { command: /`(?:npm run |tests\/|\.ci\/)/, commit, date: /\b20\d\d-\d\d-\d\d\b/ }
  const incomplete = sections.flatMap((section) => {
    const [heading = '', ...lines] = section.split('\n')
    const missing = Object.entries(parts)
      .filter(([, form]) => !form.test(section))
      .map(([part]) => `${heading}: no ${part}`)
    // A row that is a run of its own names its commit, unless all of its section are of one.
    const runs = lines.filter((line) => /^\| [^|]*(?:`npm run |the same with `)/.test(line))
    const rows = commit.test(heading) ? [] : runs.filter((line) => !commit.test(line))
    return [...missing, ...rows]
  })
  assert.deepEqual(incomplete, [])
})

test('the index names every page, and a folder has at most 20 files', () => {
  const index = read('docs/README.md')
  const pages = globSync('**/*.md', { cwd: join(root, 'docs') })
  const unnamed = pages
    .filter((page) => page !== 'README.md' && !page.startsWith('design/decisions/'))
    .filter((page) => !index.includes(`](${page})`))
  assert.deepEqual(unnamed, [])
  const counts = Object.groupBy(globSync('docs/**/*.*', { cwd: root }), (file) => dirname(file))
  const full = Object.entries(counts).filter(([, inside = []]) => inside.length > 20)
  assert.deepEqual(full, [])
})

test('every path of the checklists exists', () => {
  const page = read('docs/adding.md')
  // `apps/cloud/src/operations/<x>.ts` is a file to write: its folder must exist, up to the first name to choose.
  const named = [...page.matchAll(/`((?:apps|packages|tools|tests|docs)\/[^`\s]+)`/g)].map(
    ([, path = '']) =>
      path.includes('<') ? path.slice(0, path.lastIndexOf('/', path.indexOf('<'))) : path,
  )
  assert.ok(named.length > 80, `${named.length} paths`)
  assert.deepEqual(
    named.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('every test of the checklists exists', () => {
  const named = [...read('docs/adding.md').matchAll(/`([^`]+\.ts)` › (.+?)(?= \|$)/gm)]
  assert.ok(named.length > 15, `${named.length} tests`)
  assert.deepEqual(
    named
      .filter(
        ([, file = '', title = '']) => !existsSync(join(root, file)) || !read(file).includes(title),
      )
      .map(([line]) => line),
    [],
  )
})

test('every source file that consistency.md names exists', () => {
  const named = [...read('docs/design/consistency.md').matchAll(/`([\w/.-]+\.(?:ts|sql))`/g)].map(
    ([, path = '']) => (/^(?:apps|packages)\//.test(path) ? path : join('apps/cloud/src', path)),
  )
  assert.ok(named.length > 25, `${named.length} paths`)
  assert.deepEqual(
    named.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('every path in the map of files exists', () => {
  const sources = new Map(
    globSync('{packages,apps}/*/src', { cwd: root }).map((source) => [
      source.split('/')[1],
      source,
    ]),
  )
  const walked = [
    ...read('docs/design/request-paths.md').matchAll(/([a-z-]+)\/((?:[a-z-]+\/)*[a-z-]+\.ts)/g),
  ]
    .map(([, name, path = '']) => ({ source: sources.get(name), path }))
    .filter(({ source }) => source !== undefined)
    .map(({ source = '', path }) => join(source, path))
  assert.ok(walked.length > 30, `${walked.length} paths`)
  assert.deepEqual(
    walked.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('the repository speaks of itself alone', () => {
  // Paths of a developer's machine and hosts of a registry have no business in a commit.
  const foreign = /\/work\/(main|shared)|registry\.[a-z]+\.|"resolved": "http/
  const files = globSync(
    ['*', '.ci/*', 'docs/**/*', '{packages,tools,tests}/**/*.{ts,json,md,txt,py}'],
    {
      cwd: root,
      exclude: ['**/node_modules/**', 'node_modules'],
    },
  )
  const revealing = files.filter(
    (file) =>
      /\.\w+$|run$/.test(file) && existsSync(join(root, file)) && foreign.test(readText(file)),
  )
  assert.deepEqual(revealing, ['tests/docs.test.ts'])
})

function readText(file: string): string {
  try {
    return read(file)
  } catch {
    return ''
  }
}
