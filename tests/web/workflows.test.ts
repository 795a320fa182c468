// Goal: a person runs workflows, answers their questions and keeps schedules in the web UI. Method: Chromium against a simulated cell
// with a small workflow API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'

import { PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell()
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
  assert.deepEqual(browser.problems, [])
})

test('a workflow is found, its form says what is wrong, and its run is followed until it ends', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'Workflows' }).click()
  await page.getByRole('link', { name: 'Rolling restart' }).waitFor()
  await page.getByLabel('Filter').fill('gre')
  await page.getByRole('link', { name: 'Rolling restart' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Greet' }).click()
  await page.getByLabel('Name (required)').waitFor()
  await page.getByLabel('Times').fill('9')
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.getByText('This field is required').waitFor()
  await page.getByText('The largest value is 5').waitFor()
  await page.getByText('2 fields need your attention.').waitFor()
  await page.getByLabel('Name (required)').fill('John the Second')
  await page.getByText('Enter at most 10 characters').waitFor()
  await page.getByLabel('Name (required)').fill('john')
  await page.getByLabel('Times').fill('2')
  await page.getByLabel('Tone').selectOption('formal')
  await page.getByRole('button', { name: 'Add item' }).click()
  await page.getByLabel('Item 1', { exact: true }).fill('first')
  await page.getByLabel('City').fill('Berlin')
  await page.getByText('skerry workflow run Greet --input name=john').waitFor()
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.waitForURL('**/runs/**')
  await page.getByRole('status').getByText('Completed').waitFor()
  await page.locator('[data-place="/do/0/greet"][data-state=done]').waitFor()
  const inputs = JSON.parse((await page.locator('pre').first().textContent()) ?? '') as object
  const place = { city: 'Berlin' }
  const expected = { name: 'john', times: 2, tone: 'formal', loud: false, tags: ['first'], place }
  assert.deepEqual(inputs, expected)
  await page.getByRole('button', { name: 'Run again' }).click()
  const isGiven = async () => (await page.getByLabel('City').inputValue()) === 'Berlin'
  await until('the form has the values of the run', isGiven, PATIENCE_MS)
  await page.context().close()
})

test('the inputs of a run can be written as JSON', async () => {
  const page = await browser.open({ path: '/workflows' })
  await page.getByRole('link', { name: 'Greet' }).click()
  await page.getByLabel('Name (required)').fill('ann')
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  const area = page.getByLabel('Inputs as JSON')
  assert.equal((JSON.parse(await area.inputValue()) as { name: string }).name, 'ann')
  await area.fill('{"name": ')
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.getByText('Enter a JSON object').waitFor()
  await page.getByRole('button', { name: 'Edit as a form' }).click()
  assert.equal(await area.inputValue(), '{"name": ')
  await area.fill('{"name": "eve", "times": 3}')
  await page.getByRole('button', { name: 'Edit as a form' }).click()
  assert.equal(await page.getByLabel('Times').inputValue(), '3')
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.getByRole('status').getByText('Completed').waitFor()
  await page.context().close()
})

test('a secret is neither in the command line of a run nor in a schedule', async () => {
  const page = await browser.open({ path: '/workflows' })
  await page.getByRole('link', { name: 'Set password' }).click()
  await page.getByLabel('User').fill('ann')
  await page.getByLabel('New password').fill('hunter2')
  await page
    .getByText("skerry workflow run 'Set password' --input user=ann --input password=@FILE")
    .waitFor()
  assert.ok(!(await page.locator('body').innerText()).includes('hunter2'))
  await page.goto(`${cell.url}/ui/schedules`)
  await page.getByRole('button', { name: 'Create schedule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name (required)').waitFor()
  await dialog.getByRole('button', { name: 'Edit as JSON' }).click()
  await dialog.getByLabel('Workflow').selectOption('Set password')
  await dialog.getByText('a schedule stores no secrets. Start').waitFor()
  assert.equal(await dialog.getByLabel('New password').count(), 0)
  await dialog.getByLabel('Workflow').selectOption('Rolling restart')
  await dialog.getByText('No inputs.').waitFor()
  await page.context().close()
})

test('a question that is asked while the page is open appears, and what is typed stays', async () => {
  const page = await browser.open({ path: '/questions' })
  const cards = page.getByRole('heading', { name: 'Go on?' })
  await cards.first().waitFor()
  const before = await cards.count()
  await page.getByLabel('note').first().fill('almost')
  const other = await browser.open({ path: '/workflows' })
  await other.getByRole('link', { name: 'Rolling restart' }).click()
  await other.getByRole('button', { name: 'Run workflow' }).click()
  await other.getByRole('status').getByText('Waiting for an answer').waitFor()
  // The user comes back to the page.
  await page.locator('body').dispatchEvent('visibilitychange')
  await cards.nth(before).waitFor()
  assert.equal(await page.getByLabel('note').first().inputValue(), 'almost')
  await other.getByRole('button', { name: 'Cancel run' }).click()
  await other.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }).click()
  await other.getByRole('status').getByText('Canceled').waitFor()
  await other.context().close()
  await page.context().close()
})

test('a run waits for an answer, which a person gives on the page of questions', async () => {
  const page = await browser.open({ path: '/questions' })
  await page.getByRole('heading', { name: 'Go on?' }).waitFor()
  await page.getByRole('link', { name: 'Rolling restart' }).click()
  await page.getByRole('status').getByText('Waiting for an answer').waitFor()
  await page.getByText('The run waits for an answer to its question.').waitFor()
  await page.goto(`${cell.url}/ui/questions`)
  await page.getByLabel('Go on').check()
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('No questions').waitFor()
  await page.context().close()
})

test('a run is canceled after a question', async () => {
  const page = await browser.open({ path: '/workflows' })
  await page.getByRole('link', { name: 'Rolling restart' }).click()
  await page.getByRole('button', { name: 'Run workflow' }).click()
  await page.getByRole('status').getByText('Waiting for an answer').waitFor()
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('status').getByText('Canceled').waitFor()
  await page.context().close()
})

test('a definition is checked, its errors lead to their places, and it is imported', async () => {
  const page = await browser.open({ path: '/workflows' })
  await page.getByRole('button', { name: 'Import workflow' }).click()
  await page.waitForURL('**/workflows/import')
  const area = page.getByLabel('Definition', { exact: true })
  await area.fill('document:\n  title: Greet\n  wrong: 1\ndo:\n  - wrong: 2')
  await page.getByRole('button', { name: 'Check only' }).click()
  await page.getByRole('heading', { name: '2 errors' }).waitFor()
  assert.equal(await area.getAttribute('aria-invalid'), 'true')
  await page.getByRole('button', { name: 'Line 5' }).click()
  await area.and(page.locator(':focus')).waitFor()
  const selected = `(({ value, selectionStart, selectionEnd }) =>
    value.slice(selectionStart, selectionEnd))(document.activeElement)`
  assert.equal(await page.evaluate(selected), 'wrong: 2')
  await page.keyboard.type('set: {}')
  await page.getByRole('heading', { name: '2 errors' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('unknown property wrong: 1').waitFor()
  await page.getByLabel('File', { exact: true }).setInputFiles({
    name: 'greet.yaml',
    mimeType: 'application/yaml',
    buffer: Buffer.from('document:\n  title: Greet\n'),
  })
  await page.getByText('skerry workflow import greet.yaml').waitFor()
  await page.getByRole('button', { name: 'Check only' }).click()
  await page.getByText('No errors: Greet 1.0.0 would be created in Workflows').waitFor()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Greet', exact: true }).waitFor()
  await page.context().close()
})

test('a schedule starts its workflow at an interval', async () => {
  const page = await browser.open({ path: '/schedules' })
  await page.getByRole('button', { name: 'Create schedule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('often')
  await dialog.getByLabel('Name (required)').fill('john')
  await dialog.getByRole('radio', { name: /^Interval/ }).check()
  await dialog.getByLabel('Every', { exact: true }).fill('0')
  const create = dialog.getByRole('button', { name: 'Create schedule' })
  assert.equal(await create.getAttribute('aria-disabled'), 'true')
  await dialog.getByLabel('Every', { exact: true }).fill('90')
  await dialog.getByLabel('Unit').selectOption('minutes')
  await dialog.getByText('--every 5400').waitFor()
  await create.click()
  await page.getByRole('row', { name: /often.*every 90 minutes/ }).waitFor()
  await page.context().close()
})

test('a schedule is created, paused, resumed and deleted', async () => {
  const page = await browser.open({ path: '/schedules' })
  await page.getByRole('cell', { name: 'nightly', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create schedule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('weekly')
  await dialog.getByLabel('Times', { exact: true }).first().fill('0 4 * * 0')
  await dialog.getByLabel('Name (required)').fill('john')
  await dialog.getByRole('button', { name: 'Create schedule' }).click()
  const row = page.getByRole('row', { name: /weekly/ })
  await row.getByText('0 4 * * 0').waitFor()
  await row.getByRole('button', { name: 'Pause' }).click()
  await row.getByText('Paused').waitFor()
  await row.getByRole('button', { name: 'Resume' }).click()
  await row.getByText('Active').waitFor()
  await row.getByRole('button', { name: 'Delete weekly' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await row.waitFor({ state: 'detached' })
  await page.context().close()
})
