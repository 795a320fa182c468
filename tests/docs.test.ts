// Goal: what the documents say can be found and run. Method: read them as a reader would.
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

test('every npm script that is named exists', () => {
  const unknown = documents.flatMap((file) =>
    [...read(file).matchAll(/npm run (?:-s )?([a-z][a-z:-]*[a-z])/g)]
      .map(([, name = '']) => name)
      .filter((name) => !scripts.includes(name))
      .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('every promise names a test that is there', () => {
  const rows = [...read('SPECIFICATION.md').matchAll(/^\| (?!Promise|-)(.+) \| (.+) \|$/gm)]
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

test('every path in the map of files exists', () => {
  const walked = [
    ...read('docs/walk.md').matchAll(/(?:→|←|^ ) +((?:engine|vm|libvirt)\/[a-z-]+\.ts)/gm),
  ].map(([, path = '']) => path.replace('/', '/src/'))
  assert.ok(walked.length > 10)
  assert.deepEqual(
    walked.filter((path) => !existsSync(join(root, 'packages', path))),
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
  const telling = files.filter(
    (file) =>
      /\.\w+$|run$/.test(file) && existsSync(join(root, file)) && foreign.test(readText(file)),
  )
  assert.deepEqual(telling, ['tests/docs.test.ts'])
})

function readText(file: string): string {
  try {
    return read(file)
  } catch {
    return ''
  }
}
