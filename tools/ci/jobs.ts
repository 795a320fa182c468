// The jobs of CI: every test file, the checks, and what must be built or fetched first.
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

import type { Job } from './schedule.ts'
import { readSources, type Sources } from './sources.ts'

export const DURATIONS = 'tests/durations.json'
/** Every file with a matching name is run. */
const TEST_FILES = '{apps,packages,tests,tools}/**/*.{test,slow}.ts'
/** Files that take a second or two: several form one job. */
const SMALL = ['{apps,packages,tools}/*/test/*.test.ts', 'tests/*.test.ts']
const GROUP_SECONDS = 90
const UNKNOWN_SECONDS = 60

interface Trait {
  /** The path of a test file. */
  readonly files?: string
  /** The text of a test file, or of a file that it imports. */
  readonly says?: RegExp
  readonly weight?: 2
  readonly isQuiet?: true
  readonly locks?: readonly string[]
  readonly needs?: readonly string[]
}

/** Files that assert seconds, memory or ratios: concurrent jobs would distort their measurements. */
const measuring = [
  'apps/cloud/test/query-size.test.ts',
  'apps/cloud/test/retention.test.ts',
  'packages/ovsdb/test/throughput.slow.ts',
  'tests/attack/{feeds,guests,strangers}.test.ts',
  'tests/console/many.test.ts',
  'tests/faults/cloud-storm.test.ts',
  'tests/guest/shares.test.ts',
]
/** Files that assert many seconds, most of which they wait for a time-out: two of them leave the cores half idle. */
const waiting = [
  'packages/temporal/test/worker.slow.ts',
  'tests/accept/cloud-core.test.ts',
  'tests/attack/cells.test.ts',
  'tests/cloud/{canaries,engines-away}.test.ts',
  'tests/console/faults.test.ts',
]

/** Extra requirements of a file. All matching traits apply. */
export const traits: readonly Trait[] = [
  ...measuring.map((files): Trait => ({ files, weight: 2 })),
  ...waiting.map((files): Trait => ({ files, isQuiet: true })),
  // The workflow server of a lab listens on this fixed port, because its clients know no other.
  { says: /\bworkflows: [12]\b/, locks: ['8281'] },
  { files: 'tests/accept/workflow-docs.test.ts', locks: ['8281'] },
  // `skerry up` adds users to the machine and removes them again.
  { files: 'tests/accept/up*.test.ts', locks: ['users'] },
  { says: /\b(reasonWithoutTemporal|startTemporal|buildDeb)\b/, needs: ['setup:temporal'] },
  { says: /\bpythonWith\b/, needs: ['setup:clients'] },
  { says: /\brequireTofu\b/, needs: ['setup:tofu'] },
  // Cells read the files of the web UI when they start.
  { files: 'tests/*/*.test.ts', needs: ['build:web'] },
]

const npmScript = (name: string, seconds: number, more: Partial<Job> = {}): Job => ({
  name,
  command: ['npm', 'run', '-s', name],
  files: [],
  seconds,
  weight: 1,
  isQuiet: false,
  locks: [],
  needs: [],
  isFirst: true,
  ...more,
})

/** Go and pip run alongside the first tests, so each has one core. */
export const setUp: readonly Job[] = [
  npmScript('setup:temporal', 600, { env: { GOMAXPROCS: '1' } }),
  npmScript('setup:clients', 90),
  // One test needs it, and it takes long where neither OpenTofu nor Terraform is there.
  npmScript('setup:tofu', 480, { env: { GOMAXPROCS: '1' }, isFirst: false }),
  // Jobs that start before it ends bundle for themselves.
  npmScript('setup:bundles', 10),
  npmScript('build:web', 10),
]
/** The type checker behind the linter needs twice the processor time if it may use two cores. */
export const checks: readonly Job[] = [
  npmScript('types', 15),
  npmScript('lint', 15, { env: { GOMAXPROCS: '1' } }),
  npmScript('format', 5),
]

export const testFiles = (root: string): string[] =>
  globSync(TEST_FILES, { cwd: root, exclude: ['**/node_modules/**'] }).sort()

export type Durations = Readonly<Record<string, number>>

export const readDurations = (root: string): Durations =>
  JSON.parse(readFileSync(join(root, DURATIONS), 'utf8')) as Durations

/** Every job, unordered. */
export const allJobs = (root: string): Job[] => [
  ...otherJobs(readDurations(root)),
  ...testJobs(root, testFiles(root)),
]

/** The jobs that are not tests. */
export const otherJobs = (durations: Durations): Job[] =>
  [...setUp, ...checks].map((job) => ({ ...job, seconds: durations[job.name] ?? job.seconds }))

/** The jobs that run these test files. */
export function testJobs(root: string, files: readonly string[]): Job[] {
  const sources = readSources(root)
  const durations = readDurations(root)
  const singles = files.map((file) => jobOf(file, sources, durations))
  const isSmall = ({ name }: Job) => SMALL.some((pattern) => matchesGlob(name, pattern))
  const groups = Map.groupBy(singles.filter(isSmall), (job) =>
    JSON.stringify([job.name.split('/')[0], job.weight, job.isQuiet, job.locks, job.needs]),
  )
  return [...[...groups.values()].flatMap(joinSmall), ...singles.filter((job) => !isSmall(job))]
}

function jobOf(file: string, sources: Sources, durations: Durations): Job {
  // The lab mentions everything that it can do; what a test uses of it is in the test and its imports.
  const own = [...sources.imported(file)].filter((each) => !/\/src\/|^tools\/ci\//.test(each))
  const holds = ({ files, says }: Trait) =>
    (files !== undefined && matchesGlob(file, files)) ||
    (says !== undefined && own.some((each) => says.test(sources.text(each))))
  const held = traits.filter(holds)
  return {
    ...testJob(file, [file], durations[file] ?? UNKNOWN_SECONDS),
    weight: held.some(({ weight }) => weight === 2) ? 2 : 1,
    isQuiet: held.some(({ isQuiet }) => isQuiet),
    locks: [...new Set(held.flatMap(({ locks = [] }) => locks))],
    needs: [...new Set(held.flatMap(({ needs = [] }) => needs))],
  }
}

const testJob = (name: string, files: readonly string[], seconds: number): Job => ({
  name,
  files,
  seconds,
  weight: 1,
  isQuiet: false,
  locks: [],
  needs: [],
  command: [process.execPath, 'tools/run-tests.ts', '--serial', ...files],
})

/** Merges jobs that differ only in their files, until they are long enough for a lane. */
function joinSmall(jobs: readonly Job[]): Job[] {
  const groups: Job[][] = []
  let seconds = Infinity
  for (const job of jobs) {
    if (seconds + job.seconds > GROUP_SECONDS) {
      groups.push([])
      seconds = 0
    }
    groups.at(-1)?.push(job)
    seconds += job.seconds
  }
  return groups.map((group) => {
    const [first] = group
    const [from = '', to = ''] = [group[0]?.name, group.at(-1)?.name]
    const files = group.flatMap((job) => job.files)
    const sum = group.reduce((total, job) => total + job.seconds, 0)
    const name = group.length === 1 ? from : `${from} … ${to}`
    const { weight = 1, isQuiet = false, locks = [], needs = [] } = first ?? {}
    return { ...testJob(name, files, sum), weight, isQuiet, locks, needs }
  })
}
