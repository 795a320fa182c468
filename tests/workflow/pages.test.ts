// Goal: the pages of the workflow server as a person meets them, in a real browser: a workflow is found, started by a form, followed
// live, answered and canceled; by keyboard and by ear too, and without script as far as that goes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'

import type { Progress } from '../../apps/workflow/src/durable/verbs.ts'
import { record } from '../../apps/workflow/src/store/record.ts'
import { openDoor, type Door } from '../../apps/workflow/test/door.ts'
import { PASSWORD } from '../../apps/workflow/test/simulated-cloud.ts'

const skip = reasonToSkip('browser') ?? false
const options = { skip, timeout: 300_000 }
const PATIENCE_MS = 30_000
/** What the policy stops is told to the page; here it is kept. */
const VIOLATIONS = `window.violations = []; document.addEventListener('securitypolicyviolation', (event) =>
  violations.push(event.violatedDirective + ' ' + event.blockedURI))`

let door: Door
let browser: Browser
before(async () => {
  if (skip !== false) return
  door = await openDoor()
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
})
after(async () => {
  if (skip !== false) return
  await browser.close()
  await door[Symbol.asyncDispose]()
})

interface Opened extends AsyncDisposable {
  readonly page: Page
  readonly asked: string[]
}

async function openPage(
  path: string,
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<Opened> {
  const { user, orgName } = door.eng.who
  const base = `http://127.0.0.1:${door.port}`
  const context = await browser.newContext({
    baseURL: base,
    httpCredentials: { username: `${user}@${orgName}`, password: PASSWORD, origin: base },
    ...more,
  })
  const scripted = more.javaScriptEnabled !== false
  if (scripted) await context.addInitScript(VIOLATIONS)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const [asked, errors]: [string[], unknown[]] = [[], []]
  page.on('request', (request) => asked.push(request.url()))
  page.on('pageerror', (error) => errors.push(error))
  await page.goto(path)
  return {
    ...{ page, asked },
    async [Symbol.asyncDispose]() {
      const violations = scripted ? await page.evaluate('window.violations') : []
      await context.close()
      assert.deepEqual(violations, [], 'the policy holds')
      assert.deepEqual(errors, [])
      assert.deepEqual(
        asked.filter((each) => !each.startsWith(base)),
        [],
        'nothing from elsewhere',
      )
    },
  }
}

/** No serious fault, in words that say where. */
async function findsNoFault({ page }: Opened, where: string): Promise<void> {
  await page.evaluate(axe.source)
  const told =
    await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' at ' + target.join(' '))))`)
  assert.deepEqual(told, [], where)
}

const started = (): Promise<string> =>
  until('a run was started', () => door.runs.started.at(-1), PATIENCE_MS)
const told = (execution: string, more: Partial<Progress>): Promise<void> =>
  record(door.store.db, { execution, state: 'running', steps: [], asks: [], ...more })
const note = (number: number, what: 'began' | 'ended') => ({
  ...{ number, at: Date.now(), place: '/do/0/greet', name: 'greet', what },
})

test(
  'a workflow is found, started, followed live, answered and seen to its end',
  options,
  async () => {
    await using opened = await openPage('/')
    const { page } = opened
    await page.getByRole('searchbox', { name: 'Part of the name' }).fill('Hello')
    await page.getByRole('button', { name: 'Search' }).click()
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
    await told(run, { steps: [note(1, 'began')] })
    await page.getByRole('status').getByText('running').waitFor()
    await page.getByRole('cell', { name: 'greet began' }).waitFor()
    assert.equal(await page.locator('#step').textContent(), 'greet')
    await findsNoFault(opened, 'run')
    const form = { type: 'object', properties: { goOn: { type: 'boolean', title: 'Go on' } } }
    const asks = [{ id: 'ask', place: '/do/0/greet', question: { title: 'Shall it go on?', form } }]
    // Another branch of it goes on meanwhile, so that its state stays the same.
    await told(run, { state: 'running', asks })
    await page.getByRole('heading', { name: 'Shall it go on?' }).waitFor()
    await findsNoFault(opened, 'question')
    await page.getByRole('checkbox', { name: 'Go on' }).check()
    await page.getByRole('button', { name: 'Answer' }).click()
    await until('the run heard it', () => door.runs.answered.length > 0, PATIENCE_MS)
    assert.deepEqual(door.runs.answered.at(-1)?.[3], { goOn: true })
    await told(run, {
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
  'a run is canceled from its page, also by keyboard and in the dark on a small screen',
  options,
  async () => {
    const small = { colorScheme: 'dark', viewport: { width: 360, height: 640 } } as const
    await using opened = await openPage(`/workflows/${door.eng.ids['workflow']}`, small)
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
    await page.getByText('It is being canceled.').waitFor()
    assert.equal(door.runs.canceled.length, 1)
  },
)

test(
  'every page has no fault for the ear and fits, light and dark, wide and small',
  { ...options, timeout: 600_000 },
  async () => {
    const { workflow = '', execution = '' } = door.eng.ids
    const error = { type: 'x', status: 500, title: 'No answer', detail: 'x'.repeat(300) }
    const steps = [{ ...note(1, 'began'), what: 'failed' as const }]
    await told(execution, { state: 'failed', steps, error })
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

test('without script the list is read and a run is started', options, async () => {
  await using opened = await openPage('/', { javaScriptEnabled: false })
  const { page } = opened
  await page.getByRole('link', { name: 'Send Hello' }).first().click()
  await page.getByLabel('name (required)').fill('Plain')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('status').getByText('initializing').waitFor()
})
