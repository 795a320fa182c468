// Goal: the pages of the workflow server in a real browser: a workflow is found, started by a form, followed live, answered and
// canceled; also by keyboard and screen reader, and without script as far as possible.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { BROWSER, reasonToSkip, until } from '@skerry/lab'
import type { RunProgress } from '@skerry/serverless-workflow'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'

import { record } from '../../apps/workflow/src/store/record.ts'
import { PASSWORD } from '../../apps/workflow/test/simulated-cloud.ts'
import { openWorkflowApi, type WorkflowApi } from '../../apps/workflow/test/workflow-api.ts'

const skip = reasonToSkip('browser') ?? false
const options = { skip, timeout: 300_000 }
const PATIENCE_MS = 30_000
/** Violations of the policy are reported to the page; here they are recorded. */
const VIOLATIONS = `window.violations = []; document.addEventListener('securitypolicyviolation', (event) =>
  violations.push(event.violatedDirective + ' ' + event.blockedURI))`

let api: WorkflowApi
let browser: Browser
before(async () => {
  if (skip !== false) return
  api = await openWorkflowApi()
  browser = await chromium.launch({
    executablePath: BROWSER,
    args: ['--no-sandbox'],
  })
})
after(async () => {
  if (skip !== false) return
  await browser.close()
  await api[Symbol.asyncDispose]()
})

interface Opened extends AsyncDisposable {
  readonly page: Page
  readonly requested: string[]
}

async function openPage(
  path: string,
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<Opened> {
  const { user, orgName } = api.eng.principal
  const base = `http://127.0.0.1:${api.port}`
  const context = await browser.newContext({
    baseURL: base,
    httpCredentials: { username: `${user}@${orgName}`, password: PASSWORD, origin: base },
    ...more,
  })
  const scripted = more.javaScriptEnabled !== false
  if (scripted) await context.addInitScript(VIOLATIONS)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const [requested, errors]: [string[], unknown[]] = [[], []]
  page.on('request', (request) => requested.push(request.url()))
  page.on('pageerror', (error) => errors.push(error))
  await page.goto(path)
  return {
    page,
    requested,
    async [Symbol.asyncDispose]() {
      const violations = scripted ? await page.evaluate('window.violations') : []
      await context.close()
      assert.deepEqual(violations, [], 'the policy holds')
      assert.deepEqual(errors, [])
      assert.deepEqual(
        requested.filter((each) => !each.startsWith(base)),
        [],
        'nothing from elsewhere',
      )
    },
  }
}

/** Serious accessibility violations, with their elements. */
async function findsNoFault({ page }: Opened, where: string): Promise<void> {
  await page.evaluate(axe.source)
  const reported =
    await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' at ' + target.join(' '))))`)
  assert.deepEqual(reported, [], where)
}

const started = (): Promise<string> =>
  until('a run was started', () => api.runs.started.at(-1), PATIENCE_MS)
const reported = (execution: string, more: Partial<RunProgress>): Promise<void> =>
  record(api.store.db, { execution, state: 'running', steps: [], asks: [], ...more })
const note = (number: number, what: 'began' | 'ended') => ({
  number,
  at: Date.now(),
  place: '/do/0/greet',
  name: 'greet',
  what,
})

test(
  'a workflow is found, started, followed live, answered and seen to its end',
  options,
  async () => {
    await using opened = await openPage('/')
    const { page } = opened
    await page.getByRole('searchbox', { name: 'Part of the name' }).fill('Hello')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/[?&]q=Hello/)
    await findsNoFault(opened, 'list')
    await page.getByRole('link', { name: 'Send Hello' }).first().click()
    await page.getByRole('img', { name: 'Drawing of Send Hello' }).waitFor()
    const drawn = 'document.querySelector(".drawing").naturalWidth > 50'
    await until('the drawing is shown', () => page.evaluate<boolean>(drawn), PATIENCE_MS)
    await findsNoFault(opened, 'workflow')
    await page.getByLabel('name (required)').fill('John')
    await page.getByLabel('word').fill('hush')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('status').getByText('initializing').waitFor()
    const run = await started()
    await reported(run, { steps: [note(1, 'began')] })
    await page.getByRole('status').getByText('running').waitFor()
    await page.getByRole('cell', { name: 'greet began' }).waitFor()
    assert.equal(await page.locator('#step').textContent(), 'greet')
    await findsNoFault(opened, 'run')
    const form = { type: 'object', properties: { goOn: { type: 'boolean', title: 'Go on' } } }
    const asks = [{ id: 'ask', place: '/do/0/greet', question: { title: 'Shall it go on?', form } }]
    // Another branch of it continues meanwhile, so that its state stays the same.
    await reported(run, { state: 'running', asks })
    await page.getByRole('heading', { name: 'Shall it go on?' }).waitFor()
    await findsNoFault(opened, 'question')
    await page.getByRole('checkbox', { name: 'Go on' }).check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await until('the run received it', () => api.runs.answered.length > 0, PATIENCE_MS)
    assert.deepEqual(api.runs.answered.at(-1)?.[3], { goOn: true })
    await reported(run, {
      state: 'completed',
      steps: [note(2, 'ended')],
      output: { greeting: 'hello' },
    })
    await page.getByRole('status').getByText('completed').waitFor()
    await page.getByText('"greeting": "hello"').waitFor()
    assert.ok(!(await page.content()).includes('hush'))
  },
)

test(
  'a run is canceled from its page, also by keyboard and in dark mode on a small screen',
  options,
  async () => {
    const small = { colorScheme: 'dark', viewport: { width: 360, height: 640 } } as const
    await using opened = await openPage(`/workflows/${api.eng.ids['workflow']}`, small)
    const { page } = opened
    await page.getByLabel('name (required)').focus()
    await page.keyboard.type('Jane')
    await page.keyboard.press('Enter')
    const button = page.getByRole('button', { name: 'Cancel the run' })
    await button.focus()
    await findsNoFault(opened, 'run, small and dark')
    const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
    assert.equal(await page.evaluate<boolean>(wide), true, 'nothing sticks out')
    await page.keyboard.press('Enter')
    await page.getByText('The run is being canceled.').waitFor()
    assert.equal(api.runs.canceled.length, 1)
  },
)

test(
  'every page is accessible and fits, light and dark, wide and small',
  { ...options, timeout: 600_000 },
  async () => {
    const { workflow = '', execution = '' } = api.eng.ids
    const error = { type: 'x', status: 500, title: 'No answer', detail: 'x'.repeat(300) }
    const steps = [{ ...note(1, 'began'), what: 'failed' as const }]
    await reported(execution, { state: 'failed', steps, error })
    const paths = ['/', '/?q=nothing', `/workflows/${workflow}`, '/nowhere']
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 320, height: 640 },
      ]) {
        await using opened = await openPage('/', { colorScheme, viewport })
        const { page } = opened
        for (const path of [...paths, `/workflows/${workflow}/runs/${execution}`]) {
          await page.goto(path)
          await findsNoFault(opened, `${path}, ${colorScheme}, ${viewport.width}`)
          const fits =
            'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
          assert.equal(await page.evaluate<boolean>(fits), true, `${path} at ${viewport.width}`)
        }
      }
    }
  },
)

test('without script the list can be read and a run started', options, async () => {
  await using opened = await openPage('/', { javaScriptEnabled: false })
  const { page } = opened
  await page.getByRole('link', { name: 'Send Hello' }).first().click()
  await page.getByLabel('name (required)').fill('Plain')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('status').getByText('initializing').waitFor()
})
