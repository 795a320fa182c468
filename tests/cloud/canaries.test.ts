// Goal: no secret is stored anywhere but with its owner. Method: a hundred of them through a whole flow at two cells with a real
// Postgres and Temporal; then everything that is stored anywhere is searched for every secret. And: a logged-out token is invalid
// at every cell.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'
import { connectTemporal } from '@skerry/temporal'

import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { runFlow, type Flow } from './canary-flow.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const SECRETS = 100
const SAMPLE_MS = 100
const run = promisify(execFile)
const PG_DUMP = '/usr/lib/postgresql/15/bin/pg_dump'
/** Temporal's own tables are the largest. */
const DUMP_BYTES_MAX = 256 * 1024 * 1024

let cloud: SmallCloud
let flow: Flow
/** Every command line and environment that a process had meanwhile. */
const commands = new Set<string>()

async function sample(): Promise<void> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const read = (path: string) => readFile(path, 'latin1').catch(() => '')
  for (const pid of pids) commands.add(await read(`/proc/${pid}/cmdline`))
  for (const { pid } of cloud.cells) commands.add(await read(`/proc/${pid}/environ`))
}

before(async () => {
  if (skip !== false) return
  cloud = await startSmallCloud({ cells: 2, hosts: 1 })
  await untilOpen(cloud.db, 1)
  const sampler = setInterval(() => void sample(), SAMPLE_MS)
  try {
    flow = await runFlow(cloud)
  } finally {
    clearInterval(sampler)
  }
})
after(() => cloud?.[Symbol.asyncDispose]())

/** The secrets in a text: plain, or in one of the usual encodings. */
function leaksIn(text: string): string[] {
  const folded = text.toLowerCase()
  return [...flow.secrets].flatMap(([what, secret]) => {
    const bytes = Buffer.from(secret)
    const hex = bytes.toString('hex')
    // In base64 the preceding bytes shift the characters: the middle of it, in each of the three alignments.
    const coded = [0, 1, 2].map((before) =>
      Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .slice(4, -4),
    )
    const found =
      text.includes(secret) || folded.includes(hex) || coded.some((each) => text.includes(each))
    return found ? [what] : []
  })
}

const lookIn = (where: string, text: string): void => {
  assert.ok(text.length > 100, `${where}: there is something to look at`)
  assert.deepEqual(leaksIn(text), [], where)
}

test(`${SECRETS} secrets go through the flow, and are found where they are`, { skip }, (t) => {
  const kinds = Map.groupBy(flow.secrets.keys(), (what) => what.replace(/ ?(of user-)?\d+$/, ''))
  t.diagnostic([...kinds].map(([kind, all]) => `${all.length} × ${kind}`).join(', '))
  assert.ok(flow.secrets.size >= SECRETS, `${flow.secrets.size}`)
  const [[what = '', secret = ''] = []] = flow.secrets
  for (const text of [
    secret,
    Buffer.from(`x${secret}y`).toString('base64'),
    Buffer.from(secret).toString('hex'),
  ]) {
    assert.deepEqual(leaksIn(text), [what])
  }
})

test('no log of the cells, of Postgres or of Temporal contains one', { skip }, async () => {
  for (const { name, log } of cloud.cells)
    assert.deepEqual(leaksIn(await readFile(log, 'utf8')), [], name)
  lookIn('Postgres', await readFile(cloud.postgres.log, 'utf8'))
  lookIn('Temporal', await readFile(cloud.temporal.log, 'utf8'))
})

test('no database dump contains one', { skip }, async (t) => {
  const databases = (
    await cloud.postgres.psql('select datname from pg_database where not datistemplate')
  ).split('\n')
  assert.ok(databases.length >= 3, databases.join())
  for (const database of databases) {
    const url = cloud.postgres.urlOf(database)
    const { stdout: dump } = await run(PG_DUMP, [url], { maxBuffer: DUMP_BYTES_MAX })
    t.diagnostic(`${database}: ${dump.length} bytes`)
    lookIn(`the dump of ${database}`, dump)
  }
})

test('no workflow history contains one', { skip }, async (t) => {
  const { address, namespace, tls } = cloud.temporal
  await using temporal = connectTemporal({ address, namespace, tls, callTimeoutMs: 20_000 })
  let runs = 0
  for await (const { workflowId, runId } of temporal.client.workflow.list()) {
    runs += 1
    const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory()
    const text = JSON.stringify(history, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    )
    lookIn(workflowId, text)
  }
  t.diagnostic(`${runs} histories`)
  assert.ok(runs > 0)
})

test('no process was started with one', { skip }, () => {
  const all = [...commands].join('\n')
  assert.ok(all.includes('cell-process'), 'the cells were inspected')
  lookIn('the command lines', all)
})

test(
  'only the response that issues a secret contains it: no error, event or list',
  { skip },
  () => {
    lookIn('the answers', flow.answers.join('\n'))
  },
)

test(
  'a logged-out token is invalid from the next request on, at every cell',
  { skip },
  async (t) => {
    let slowest = 0
    const rounds = 10
    for (let n = 0; n < rounds; n += 1) {
      const here = await cloud.logIn(n % 2)
      const there = here.at(cloud.cells[(n + 1) % 2]?.url ?? '')
      for (const each of [here, there])
        assert.equal((await each.ask('GET', '/api/session')).status, 200)
      const began = performance.now()
      assert.equal((await here.ask('DELETE', '/api/session')).status, 204)
      for (const each of [there, here])
        assert.equal((await each.ask('GET', '/api/session')).status, 401)
      slowest = Math.max(slowest, performance.now() - began)
    }
    t.diagnostic(
      `${rounds} of ${rounds}; the slowest was refused at both cells ${slowest.toFixed(0)} ms after it was logged out`,
    )
    assert.ok(slowest < 1000)
  },
)
