// The picture of a run: the workflow server over its own PostgreSQL, a library workflow, and the progress of a run. There is no cloud,
// so the steps are recorded as a worker would record them.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { StepNote } from '@skerry/serverless-workflow'
import { chromium } from 'playwright-core'

import { functions } from '../../apps/workflow/src/functions/functions.ts'
import { record } from '../../apps/workflow/src/store/record.ts'
import { PASSWORD } from '../../apps/workflow/test/simulated-cloud.ts'
import { openWorkflowApi } from '../../apps/workflow/test/workflow-api.ts'

const LIBRARY = join(import.meta.dirname, '../../apps/workflow/library')
/** As high as the drawing. */
const WINDOW = { width: 1000, height: 1120 }
const BODY = '/do/1/every/do'
const steps: readonly (readonly [place: string, ...StepNote['what'][]])[] = [
  ['/do/0/look', 'began', 'ended'],
  ['/do/1/every', 'began'],
  [`${BODY}/0/stop`, 'began', 'ended'],
  [`${BODY}/0/stop/try/0/shutdown`, 'began', 'ended'],
  [`${BODY}/1/start`, 'began', 'ended'],
  [`${BODY}/2/healthy`, 'began'],
]

export async function pictureRun(
  file: string,
  { browser: executablePath, scale }: Readonly<{ browser: string; scale: number }>,
): Promise<void> {
  await using api = await openWorkflowApi(new Set(Object.keys(functions)))
  const principal = { ...api.eng.principal, user: 'alice' }
  api.cloud.add(principal)
  const body = await readFile(join(LIBRARY, 'rolling-restart.yaml'))
  const requested = { as: principal, accept: 'application/json' }
  const imported = await api.ask('POST', '/api/workflows', { ...requested, body })
  const { id } = JSON.parse(imported.text) as { id: string }
  const started = await api.ask('POST', `/api/workflows/${id}/executions`, {
    ...requested,
    body: '{"input": {"vapp": "vapp-web"}}',
  })
  const { id: execution } = JSON.parse(started.text) as { id: string }
  const told = steps.flatMap(([place, ...whats]) =>
    whats.map((what) => ({ place, what, name: place.split('/').at(-1) ?? '' })),
  )
  const notes = told.map((each, at) => ({ ...each, number: at + 1, at: Date.now() }))
  await record(api.store.db, { execution, state: 'running', steps: notes, asks: [] })
  await using chrome = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const base = `http://127.0.0.1:${api.port}`
  const username = `${principal.user}@${principal.orgName}`
  const page = await chrome.newPage({
    viewport: WINDOW,
    deviceScaleFactor: scale,
    reducedMotion: 'reduce',
    httpCredentials: { username, password: PASSWORD, origin: base },
  })
  await page.goto(`${base}/workflows/${id}/runs/${execution}`)
  await page.screenshot({ path: file })
}
