// Goal: an export of events is complete, continues where it stopped, and shows every later change. Method: `skerry` in this process
// against the API of a cloud over a real Postgres; changes to the file as its writer could make them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { chain, lineOf, NO_HASH } from '../../apps/cli/src/commands/cloud/event-chain.ts'
import { keptProfiles, skerry } from '../../apps/cli/test/terminal.ts'
import { openTenantsApi, type TenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import { blocksIn } from '../accept/doc-blocks.ts'

const GUIDE = join(import.meta.dirname, '../../docs/guides/audit.md')

let api: TenantsApi
let folder: string
let file: string
let token: string
before(async () => {
  api = await openTenantsApi()
  folder = await mkdtemp(join(tmpdir(), 'skerry-export-'))
  file = join(folder, 'audit.jsonl')
  token = await api.enter(api.eng.org, 'organisation administrator')
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const emit = (count: number, org = api.eng.org) =>
  api.cloud.db
    .insertInto('event')
    .values(
      Array.from({ length: count }, (_, n) => ({
        kind: 'test.n',
        org,
        details: JSON.stringify({ by: 'ünï ❄', n, words: 'one "two"\nthree' }),
      })),
    )
    .execute()

async function run(words: readonly string[], port = api.port) {
  const work = { url: `http://127.0.0.1:${port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return skerry('http://127.0.0.1:9', words, { profiles })
}

async function does(...words: readonly string[]): Promise<string> {
  const { code, out, err } = await run(words)
  assert.equal(code, 0, err)
  return out
}

async function fails(...words: readonly string[]): Promise<string> {
  const { code, err } = await run(words)
  assert.equal(code, 1, err)
  return err
}

const linesOf = async (): Promise<string[]> =>
  (await readFile(file, 'utf8')).split('\n').slice(0, -1)

/** The file with all hashes calculated again, as a user who may write to it can do. */
const rechained = (events: readonly string[]): string => {
  let hash = NO_HASH
  return events
    .map((event) => {
      const chained = chain(hash, event)
      hash = chained.hash
      return lineOf(chained)
    })
    .join('')
}

const eventOf = (line: string): string => line.slice(line.indexOf('"event":') + 8, -1)

/** The file is as before afterwards. */
async function withContent(text: string, check: () => Promise<void>): Promise<void> {
  const before = await readFile(file)
  await writeFile(file, text)
  await check()
  await writeFile(file, before)
}

test('an export has every event of the organisation once, in order, and none of another; the next run appends what is new', async () => {
  await emit(1203)
  await emit(5, api.ops.org)
  const first = JSON.parse(await does('event', 'export', file, '--json')) as Record<string, unknown>
  const kept = await api.cloud.db
    .selectFrom('event')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('org', '=', api.eng.org)
    .executeTakeFirstOrThrow()
  assert.deepEqual([first['added'], first['events']], [Number(kept.count), Number(kept.count)])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await emit(7)
  assert.match(
    await does('event', 'export', file),
    new RegExp(
      `^7 events added to \\S+, ${Number(kept.count) + 7} in all; last hash [0-9a-f]{64}$`,
      'm',
    ),
  )
  assert.match(await does('event', 'export', file), /^0 events added/)
  const numbers = (await linesOf()).map((line) => JSON.parse(eventOf(line)) as { n?: number })
  const written = numbers.flatMap(({ n }) => (n === undefined ? [] : [n]))
  const wanted = [...Array(1203).keys(), ...Array(7).keys()]
  assert.deepEqual(written, wanted)
  assert.match(
    await does('event', 'verify', file, '--cloud'),
    /the cloud has the same events; 0 older/,
  )
})

test('a line that is changed, removed, added or moved is found by its number', async () => {
  const lines = await linesOf()
  const [one = '', two = '', three = ''] = lines.slice(600, 603)
  const changes: readonly (readonly [string, readonly string[], number])[] = [
    ['changed', [one, two.replace('"n":', '"n":1'), three], 602],
    ['removed', [one, three], 602],
    ['added', [one, two, two, three], 603],
    ['moved', [two, one, three], 601],
    ['emptied', [one, '', three], 602],
    ['with another hash', [one, two.replace(/[0-9a-f]{64}/, NO_HASH), three], 602],
  ]
  for (const [name, changed, at] of changes) {
    const text = [...lines.slice(0, 600), ...changed, ...lines.slice(603), ''].join('\n')
    await withContent(text, async () => {
      const expected = new RegExp(`the hash of line ${at} does not fit`)
      assert.match(await fails('event', 'verify', file), expected, name)
      // It is not continued.
      assert.match(await fails('event', 'export', file), expected, name)
      assert.equal(await readFile(file, 'utf8'), text, name)
    })
  }
})

test('hashes that were all calculated again are found by the cloud, and by a hash stored elsewhere', async () => {
  const lines = await linesOf()
  const events = lines.map(eventOf)
  const last = /"hash":"([0-9a-f]+)"/.exec(lines.at(-1) ?? '')?.[1] ?? ''
  assert.match(await does('event', 'verify', file, '--last', last), /no line changed/)
  const forgeries: Readonly<Record<string, readonly string[]>> = {
    changed: events.with(700, (events[700] ?? '').replace('ünï', 'eve')),
    'the first changed': events.with(0, (events[0] ?? '').replace('"by":"', '"by":"x')),
    removed: events.toSpliced(700, 1),
    added: events.toSpliced(700, 0, events[0] ?? ''),
    'added at the end': [...events, events[0] ?? ''],
  }
  for (const [name, forged] of Object.entries(forgeries)) {
    await withContent(rechained(forged), async () => {
      assert.match(await does('event', 'verify', file), /no line changed/, name)
      assert.match(await fails('event', 'verify', file, '--cloud'), /is not the next event/, name)
      if (name.endsWith('end')) return
      assert.match(await fails('event', 'verify', file, '--last', last), /has no line with/, name)
    })
  }
  // Whole lines at the end are missing: the cloud has more.
  await withContent(`${lines.slice(0, -3).join('\n')}\n`, async () => {
    assert.match(await does('event', 'verify', file, '--cloud'), /3 newer ones are not exported/)
    assert.match(await fails('event', 'verify', file, '--last', last), /has no line with/)
  })
})

test('a run that was killed in the middle of a line is continued', async () => {
  const whole = await readFile(file)
  for (const missing of [1, 30, whole.length - 10]) {
    await truncate(file, whole.length - missing)
    await does('event', 'export', file)
    assert.deepEqual(await readFile(file), whole)
  }
})

test('connections that are lost do not change the export', async () => {
  const whole = await readFile(file)
  let links = 0
  const cutter = createServer((near) => {
    links += 1
    let left = 100_000
    const far = connect(api.port, '127.0.0.1')
    near.on('error', () => undefined).on('close', () => far.destroy())
    far.on('error', () => undefined).on('close', () => near.destroy())
    near.pipe(far)
    far.on('data', (chunk) => {
      left -= chunk.length
      near.write(chunk)
      if (left < 0) near.destroy()
    })
  })
  cutter.listen(0, '127.0.0.1')
  try {
    await rm(file)
    const { port } = cutter.address() as AddressInfo
    const { code, err } = await run(['event', 'export', file], port)
    assert.equal(code, 0, err)
    assert.ok(links > 2, `${links} connections`)
    assert.deepEqual(await readFile(file), whole)
  } finally {
    cutter.close()
  }
})

test('two runs at once leave a whole export', async () => {
  await emit(900)
  const ended = await Promise.all([run(['event', 'export', file]), run(['event', 'export', file])])
  for (const { code, err } of ended) {
    if (code !== 0) assert.match(err, /another skerry event export writes to/)
  }
  await does('event', 'export', file)
  assert.match(await does('event', 'verify', file, '--cloud'), / 0 newer ones/)
})

test('events that the cloud has deleted because of their age are counted', async () => {
  const { db } = api.cloud
  const ids = await db
    .selectFrom('event')
    .select(['tx', 'seq'])
    .where('org', '=', api.eng.org)
    .orderBy('tx')
    .orderBy('seq')
    .execute()
  // Events of one statement have one time; the cloud drops whole months.
  const oldest = ids.filter(({ tx }) => tx === ids[0]?.tx)
  await db
    .deleteFrom('event')
    .where('org', '=', api.eng.org)
    .where('tx', '=', ids[0]?.tx ?? '')
    .execute()
  const expected = new RegExp(`${oldest.length} older ones are deleted there, 0 newer`)
  assert.match(await does('event', 'verify', file, '--cloud'), expected)
})

test('the lines of the guide export and verify, and its program prints the last hash', async () => {
  const text = await readFile(GUIDE, 'utf8')
  const lines = blocksIn(text).flatMap((block) => block.trim().split('\n'))
  assert.equal(lines.length, 3)
  let out = ''
  for (const line of lines) {
    const [, ...words] = line.replace('audit.jsonl', file).split(' ')
    out = await does(...words)
  }
  const [, last] = /last hash ([0-9a-f]{64})/.exec(out) ?? []
  const [, program = ''] = /```python\n([^]*?)```/.exec(text) ?? []
  const { stdout } = await promisify(execFile)('python3', ['-c', program, file])
  assert.equal(stdout.trim(), last)
})

test('a file that cannot be read or written is refused in words', async () => {
  assert.match(await fails('event', 'export', '/nowhere/audit.jsonl'), /cannot be written: ENOENT/)
  assert.match(await fails('event', 'verify', '/nowhere/audit.jsonl'), /cannot be read: ENOENT/)
})
