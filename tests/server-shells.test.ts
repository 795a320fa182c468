// Goal: what every server does is written once, in packages/service. Method: the files that make servers, translate their faults or
// start their programs are compared in pairs; runs of equal lines are parts that were copied.
// If you are here because this failed: move the lines that the message shows to packages/service/src/http or process.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const LINES_MAX = 6
const RUN_MIN = 3

interface Shell {
  readonly file: string
  readonly lines: readonly string[]
}

/** Makes a server itself, or is the part of one that every server has. */
const isShell = (file: string, text: string): boolean =>
  /\b(fastify|createApiServer|create(Secure)?Listener|boundedListener)\(/.test(text) ||
  /\/(send-fault|health|main)\.ts$/.test(file)

/** The lines without imports, comments and blank ones. */
function linesOf(text: string): string[] {
  return text
    .replace(/^(?:import|export) [^'()=]*? from '[^']+'$/gms, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(\/\/|\/\*|\*)/.test(line))
}

/** The lines of `one` that are also in `other`, in runs of at least three: shorter ones are the same words, not the same part. */
function sharedLines(one: readonly string[], other: readonly string[]): string[] {
  const shared: string[] = []
  const taken = new Set<number>()
  for (let at = 0; at < one.length; at += 1) {
    const runs = other.map((_, from) => ({ from, length: runLength(one, at, other, from, taken) }))
    const longest = runs.reduce((best, run) => (run.length > best.length ? run : best))
    const run = one.slice(at, at + longest.length)
    if (run.length < RUN_MIN || run.filter((line) => /\w/.test(line)).length < 2) continue
    shared.push(...run)
    for (let each = 0; each < run.length; each += 1) taken.add(longest.from + each)
    at += run.length - 1
  }
  return shared
}

function runLength(
  one: readonly string[],
  at: number,
  other: readonly string[],
  from: number,
  taken: ReadonlySet<number>,
): number {
  let length = 0
  while (at + length < one.length && one[at + length] === other[from + length]) {
    if (taken.has(from + length)) break
    length += 1
  }
  return length
}

const shells = globSync('{apps,packages}/*/src/**/*.ts', { cwd: root })
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  .filter(({ file, text }) => isShell(file, text))
  .map(({ file, text }): Shell => ({ file, lines: linesOf(text) }))

test(`no two server shells share more than ${LINES_MAX} lines`, () => {
  const copied = shells.flatMap((one, at) =>
    shells
      .slice(at + 1)
      .map((other) => ({
        files: [one.file, other.file],
        lines: sharedLines(one.lines, other.lines),
      }))
      .filter(({ lines }) => lines.length > LINES_MAX),
  )
  assert.deepEqual(copied, [])
  const files = shells.map(({ file }) => file)
  for (const each of [
    'apps/cloud/src/http/server.ts',
    'apps/cloud/src/machine-api/server.ts',
    'apps/console/src/server.ts',
    'apps/egress/src/server.ts',
    'apps/vmd/src/local/server.ts',
    'apps/workflow/src/http/server.ts',
    'packages/host-api/src/serve.ts',
    'packages/service/src/metrics/health.ts',
  ]) {
    assert.ok(files.includes(each), `${each} was compared`)
  }
})

test('imports and comments are no copies; other equal lines are', () => {
  const text = "import {\n  a,\n} from 'a'\n// why\nconst b = () => ({\n  c,\n})\n"
  assert.deepEqual(linesOf(text), ['const b = () => ({', 'c,', '})'])
  assert.deepEqual(sharedLines('abcdexfgh'.split(''), 'abcyfghcde'.split('')), 'abcfgh'.split(''))
})
