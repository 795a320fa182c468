// Goal: the steps of docs/tutorials/web.md lead from the login to a VM and back. Method: its numbered lines unmodified, in Chromium, at a
// cloud of the lab with a real guest. One difference from a user's run: the browser accepts the certificate of the lab.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal, startLab } from '@skerry/lab'
import type { Locator, Page } from 'playwright-core'

import { startBrowser } from '../web/browser.ts'
import { webRoles, webStepsIn, type WebRole, type WebStep } from './web-steps.ts'

const skip =
  reasonToSkip('host', 'small', 'cloud', 'browser') ?? (await reasonWithoutTemporal()) ?? false
const DOCUMENT = join(import.meta.dirname, '../../docs/tutorials/web.md')
/** Guests are emulated. */
const STEP_MS = 180_000

test('the steps of the tutorial of the web UI lead to a VM and back', { skip }, async (t) => {
  await using stack = new AsyncDisposableStack()
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'docs-web-')))
  const lab = stack.use(await startLab({ dir: join(dir, 'lab'), hosts: 1, cells: 1 }))
  const [tenant] = lab.cloud?.tenants ?? []
  assert.ok(lab.cloud && tenant)
  const { host, port } = new URL(lab.cloud.url)
  const browser = stack.use(await startBrowser({ url: lab.cloud.url, port: Number(port) }))
  const text = (await readFile(DOCUMENT, 'utf8'))
    .replaceAll('CLOUD', host)
    .replaceAll('USER', `${tenant.user}@${tenant.org}`)
    .replaceAll('PASSWORD', tenant.password)
  const steps = webStepsIn(text)
  assert.ok(steps.length >= 30, `${steps.length} steps`)
  const page = await browser.open({ user: '' })
  page.setDefaultTimeout(STEP_MS)
  const began = performance.now()
  for (const step of steps) await take(page, step)
  t.diagnostic(`${steps.length} steps in ${Math.round((performance.now() - began) / 1000)} s`)
  assert.deepEqual(browser.problems, [])
})

/** An error names the step. */
async function take(page: Page, step: WebStep): Promise<void> {
  try {
    await act(page, step)
  } catch (error) {
    throw new Error(`${JSON.stringify(step)} at ${page.url()}`, { cause: error })
  }
}

async function act(page: Page, step: WebStep): Promise<void> {
  if (step.kind === 'open') return void (await page.goto(step.address))
  if (step.kind === 'press') return page.keyboard.press(step.key)
  if (step.kind === 'enter') {
    return page.getByLabel(step.field, { exact: true }).last().fill(step.text)
  }
  if (step.kind === 'click') return click(named(page, step.role, step.name), step.role)
  const { role, name } = step
  if (role === 'field') return page.getByLabel(name, { exact: true }).waitFor()
  if (role === 'text') return page.getByText(name).first().waitFor()
  return named(page, role, name).waitFor()
}

/** The line of a running task is above the tabs and moves them when the task ends, perhaps under the pointer: a tab gets a key. */
async function click(target: Locator, role: WebRole): Promise<void> {
  if (role !== 'tab') return target.click()
  await target.click({ trial: true })
  await target.press('Enter')
}

/** The last one: an open dialog is after the page that it covers. A heading or a tab may have a number after its name. */
const named = (page: Page, role: WebRole, name: string): Locator =>
  page
    .getByRole(webRoles[role], { name: new RegExp(`^${RegExp.escape(name)}( ?[\\d,]+)?$`) })
    .last()
