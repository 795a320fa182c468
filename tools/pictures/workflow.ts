// The picture of a run: the workflow server over a PostgreSQL of its own, the library's workflow, and what its run wrote down until
// then. No cloud is behind it, so the steps are told as a worker would tell them.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { chromium } from 'playwright-core'

import type { StepNote } from '../../apps/workflow/src/durable/verbs.ts'
import { record } from '../../apps/workflow/src/store/record.ts'
import { functions } from '../../apps/workflow/src/worker/functions.ts'
import { openDoor } from '../../apps/workflow/test/door.ts'
import { PASSWORD } from '../../apps/workflow/test/simulated-cloud.ts'

const LIBRARY = join(import.meta.dirname, '../../apps/workflow/library')
/** As high as the drawing reaches. */
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
  await using door = await openDoor(new Set(Object.keys(functions)))
  const who = { ...door.eng.who, user: 'alice' }
  door.cloud.add(who)
  const body = await readFile(join(LIBRARY, 'rolling-restart.yaml'))
  const asked = { as: who, accept: 'application/json' }
  const imported = await door.ask('POST', '/api/workflows', { ...asked, body })
  const { id } = JSON.parse(imported.text) as { id: string }
  const started = await door.ask('POST', `/api/workflows/${id}/executions`, {
    ...{ ...asked, body: '{"input": {"vapp": "vapp-web"}}' },
  })
  const { id: execution } = JSON.parse(started.text) as { id: string }
  const told = steps.flatMap(([place, ...whats]) =>
    whats.map((what) => ({ place, what, name: place.split('/').at(-1) ?? '' })),
  )
  const notes = told.map((each, at) => ({ ...each, number: at + 1, at: Date.now() }))
  await record(door.store.db, { execution, state: 'running', steps: notes, asks: [] })
  await using chrome = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const base = `http://127.0.0.1:${door.port}`
  const username = `${who.user}@${who.orgName}`
  const page = await chrome.newPage({
    ...{ viewport: WINDOW, deviceScaleFactor: scale, reducedMotion: 'reduce' },
    httpCredentials: { username, password: PASSWORD, origin: base },
  })
  await page.goto(`${base}/workflows/${id}/runs/${execution}`)
  await page.screenshot({ path: file })
}
