// Goal: histories/ contains a history of each construct, as this release writes it. Method: run each on a real Temporal. Existing
// files are not overwritten: a release adds its own with SKERRY_RELEASE=NAME.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { startEvaluator } from '@skerry/jq'
import {
  reasonWithoutRoot,
  reasonWithoutTemporal,
  startPostgres,
  startTemporal,
  until,
} from '@skerry/lab'
import type { DefinitionDocument } from '@skerry/serverless-workflow'
import { connectTemporal, runWorker } from '@skerry/temporal'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { parse } from 'yaml'

import { definitionOf } from '../../../packages/serverless-workflow/test/scenarios.ts'
import { workflowIdOf } from '../src/durable/run-activities.ts'
import { makeActivities } from '../src/runs/activities.ts'
import { signalEvent, startRun } from '../src/runs/start.ts'
import { constructs } from './constructs.ts'
import { begun, makeSmallServer } from './small-server.ts'
import { testConverter as dataConverter, WORKFLOWS } from './test-key.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const RELEASE = process.env['SKERRY_RELEASE'] ?? 'first'
const timeout = 180_000

test('each construct has a history of this release', { skip, timeout }, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'workflow-histories-'))
  t.after(async () => rm(dir, { recursive: true, force: true }))
  await using postgres = await startPostgres(join(dir, 'postgres'), { durable: false })
  await using engine = await startTemporal(join(dir, 'temporal'), postgres)
  await using temporal = connectTemporal({ ...engine, dataConverter })
  await using evaluator = startEvaluator()
  const server = makeSmallServer({
    evaluator,
    pause: async (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new DOMException('stop', 'AbortError'))),
      ),
  })
  const define = (id: string, tasks: string, input = {}) =>
    server.definitions.set(id, {
      document: parse(definitionOf('case', tasks)) as DefinitionDocument,
      input,
    })
  define('inner', `- twice: { set: { n: '\${ (.n // 1) * 2 }' } }`)
  await using worker = runWorker({
    address: engine.address,
    namespace: engine.namespace,
    taskQueue: 'runs',
    dataConverter,
    workflows: { path: WORKFLOWS },
    activities: makeActivities(server),
    say: () => undefined,
  })
  await worker.ready
  const into = `${import.meta.dirname}/histories/${RELEASE}`
  await mkdir(into, { recursive: true })
  for (const [name, { tasks, input = {}, event }] of Object.entries(constructs)) {
    define(name, tasks, input as object)
    await startRun(temporal, begun(name), 'runs')
    if (event !== undefined) {
      const waits = () =>
        server.progress.some(
          ({ execution, state }) => execution === name && state === 'waiting-signal',
        )
      await until(`${name} should wait`, waits, 60_000)
      await signalEvent(temporal, name, { id: '1', source: 'test', ...event })
    }
    const handle = temporal.client.workflow.getHandle(workflowIdOf(name))
    const ended = await handle.result().then(
      () => 'completed',
      () => 'failed',
    )
    assert.equal(ended, name === 'raise' ? 'failed' : 'completed', name)
    const file = join(into, `${name}.json`)
    // Remove the name of process and machine.
    const history = historyToJSON(await handle.fetchHistory()).replaceAll(
      /"identity": "[^"]*"/g,
      '"identity": "worker"',
    )
    if (!existsSync(file)) await writeFile(file, `${history}\n`)
  }
})
