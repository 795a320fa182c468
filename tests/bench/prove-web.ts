// npm run prove:web [-- --vms N] [--events N] [--rounds N] Goal: the web UI of an administrator with a million VMs is fast and stays
// small. Method: Chromium against the API of a real cell with PostgreSQL; times are taken in the page. An hour of events, 20 a second,
// is sent as fast as the cell passes it on.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

import { loadPageFiles } from '@skerry/service'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'

import { emitEvent } from '../../apps/cloud/src/database/events.ts'
import type { TaskRow } from '../../apps/cloud/src/database/tables.ts'
import { addMany } from '../../apps/cloud/test/many-rows.ts'
import { BASE, openTenantsApi, type TenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import { tokenOf } from '../../apps/cloud/test/token-of.ts'
import { startBrowser, type WebBrowser } from '../web/browser.ts'
import { startTlsFront } from '../web/tls-front.ts'
import { openBare, timeScrolling, type Scrolling } from './scrolling.ts'

const { values } = parseArgs({
  options: {
    vms: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '72000' },
    rounds: { type: 'string', default: '40' },
  },
})
const DIST = join(import.meta.dirname, '../../apps/web/dist')
const LIST = `${BASE}/ui/admin/vms`
const COLD_ROUNDS = 5
const MIB = 1024 ** 2
const rounds = Number(values.rounds)

/** Notes when the first row is shown, and what a row shows since when. */
const NOTES = `{
  window.notes = { rows: new Map() }
  const observer = new MutationObserver(() => {
    if (!notes.first && document.querySelector('[role=row] a')) notes.first = performance.now()
    for (const link of document.querySelectorAll('[role=row] a')) {
      const row = link.closest('[role=row]')
      const state = row.children[1]?.textContent
      const id = link.href.slice(-36)
      if (notes.rows.get(id)?.state !== state) notes.rows.set(id, { state, at: Date.now() })
    }
  })
  notes.start = () => observer.observe(document, { subtree: true, childList: true, characterData: true })
  notes.stop = () => observer.disconnect()
  notes.start()
  notes.since = (id, state) => new Promise((resolve, reject) => {
    const until = Date.now() + 120_000
    const look = () => {
      const row = notes.rows.get(id)
      if (row?.state === state) resolve(row.at)
      else if (Date.now() > until) reject(new Error(id + ' shows ' + row?.state + ', not ' + state))
      else requestAnimationFrame(look)
    }
    look()
  })
}`

const figures: { what: string; figure: string; goal: string; isMet: boolean }[] = []
function note(what: string, value: number, most: number, unit: string, more = ''): void {
  const round = (each: number): string => each.toFixed(unit === 'ms' ? 0 : 1)
  const figure = `${round(value)} ${unit}${more}`
  console.log(`${what}: ${figure}`)
  figures.push({ what, figure, goal: `≤ ${round(most)} ${unit}`, isMet: value <= most })
}

const quantile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(part * times.length) - 1)] ?? Number.NaN

/** A page of a new browser context, with the session of an administrator and no cached file. */
async function openCold(browser: WebBrowser, token: string): Promise<Page> {
  const page = await browser.open({ user: '', path: '/login' })
  const context = page.context()
  await context.clearCookies()
  const cookie = { name: '__Host-cloud-token', value: token, url: BASE }
  await context.addCookies([{ ...cookie, secure: true, httpOnly: true, sameSite: 'Strict' }])
  await context.addInitScript({ content: NOTES })
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.clearBrowserCache')
  await page.goto(LIST)
  await page.locator('[role=row] a').first().waitFor()
  return page
}

/** When the document, the last script before the list, the request for the list and its response were there. */
const WATERFALL = `(() => {
  const resources = performance.getEntriesByType('resource')
  const list = resources.find(({ name }) => name.includes('type=adminVM'))
  const scripts = resources.filter(({ name, startTime }) => name.endsWith('.js') && startTime < list.startTime)
  return [performance.getEntriesByType('navigation')[0].responseEnd, Math.max(...scripts.map(({ responseEnd }) => responseEnd)), list.startTime, list.responseEnd]
})()`

async function proveFirstRows(browser: WebBrowser, token: string): Promise<void> {
  const times: number[] = []
  const parts: number[][] = []
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const page = await openCold(browser, token)
    times.push(await page.evaluate<number>('notes.first'))
    parts.push(await page.evaluate<number[]>(WATERFALL))
    await page.context().close()
  }
  const [document, scripts, asked, answered] = [0, 1, 2, 3].map((part) =>
    quantile(
      parts.map((each) => each[part] ?? Number.NaN),
      0.5,
    ).toFixed(0),
  )
  console.log(
    `first rows: document after ${document} ms, scripts ${scripts}, list asked for ${asked}, answered ${answered}`,
  )
  note(
    'first rows, cold',
    quantile(times, 0.5),
    800,
    'ms',
    `, worst ${Math.max(...times).toFixed(0)}`,
  )
}

async function proveScripts(page: Page): Promise<void> {
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js'))`,
  )
  const sizes = loaded.map(
    (path) => gzipSync(readFileSync(join(DIST, path.replace('/ui/', ''))), { level: 9 }).length,
  )
  const sum = sizes.reduce((total, size) => total + size, 0)
  note('scripts until the list is shown, packed', sum / 1024, 220, 'KiB')
}

async function proveLastRow(page: Page): Promise<void> {
  const total = Number(await page.getByRole('grid').getAttribute('aria-rowcount'))
  await page.getByRole('grid').focus()
  const began = await page.evaluate<number>('performance.now()')
  await page.keyboard.press('End')
  await page.locator(`[aria-rowindex="${total}"] a`).waitFor()
  const [ended = 0, query = 0] = await page.evaluate<number[]>(`[performance.now(), Math.max(
    ...performance.getEntriesByType('resource')
      .filter(({ name, startTime }) => name.includes('/api/query') && startTime >= ${began})
      .map(({ duration }) => duration))]`)
  note('to the last row, without its query', ended - began - query, 300, 'ms')
  console.log(`the query of the last page: ${query.toFixed(0)} ms`)
  await page.keyboard.press('Home')
  await page.locator('[aria-rowindex="2"] a').waitFor()
}

const writeCosts = ({ costs }: Scrolling): string => {
  const parts = Object.entries(costs).map(([what, ms]) => `${what} ${ms.toFixed(2)}`)
  return `${Object.values(costs)
    .reduce((sum, ms) => sum + ms, 0)
    .toFixed(2)} ms of processor time for a frame (${parts.join(', ')})`
}

/** A wheel scrolls the list by two rows a frame, without our own observer; then the engine scrolls the same rows without the app. */
async function proveScrolling(page: Page): Promise<void> {
  await page.evaluate('notes.stop()')
  const list = await timeScrolling(page)
  const bare = await openBare(page)
  const engine = await timeScrolling(bare)
  await bare.close()
  await page.evaluate('notes.start()')
  const [middle, most] = [quantile(engine.frames, 0.5), quantile(engine.frames, 0.95)]
  console.log(`scrolling: the list ${writeCosts(list)}`)
  console.log(`scrolling: the same rows without the app ${writeCosts(engine)}`)
  console.log(
    `frames of the same rows without the app: p50 ${middle.toFixed(1)}, p95 ${most.toFixed(1)} ms`,
  )
  const p95 = quantile(list.frames, 0.95)
  const more = `, p50 ${quantile(list.frames, 0.5).toFixed(1)}; ${(p95 / most).toFixed(2)} of the bare engine`
  note('a frame while scrolling, p95', p95, 17, 'ms', more)
}

/** A VM is on or off from now on, with the event of the end of a task, as a cell writes it. */
async function change({ cloud: { db } }: TenantsApi, id: string, isOn: boolean): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const status = isOn ? 'POWERED_ON' : 'POWERED_OFF'
    const { org, vapp } = await tx
      .updateTable('vm')
      .set({ status, host_silent: false, lost_reason: null })
      .where('id', '=', id as VmId)
      .returning(['org', 'vapp'])
      .executeTakeFirstOrThrow()
    const task = { id: randomUUID() as TaskRow['id'], org, vapp, vm: id as VmId }
    await emitEvent(tx, { kind: 'task.success', task: { ...task, operation: 'powerOn' } })
  })
}

/** The milliseconds from a change in the database to the changed row, of this many changes. */
async function timeChanges(api: TenantsApi, page: Page, count: number): Promise<number[]> {
  await page.getByRole('grid').press('Home')
  await page.locator('[aria-rowindex="2"] a').waitFor()
  const ids = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[role=row] a')].map(({ href }) => href.slice(-36))`,
  )
  const times: number[] = []
  for (let round = 0; round < count; round++) {
    const id = ids[round % 10] ?? ''
    const isOn = Math.floor(round / 10) % 2 === 1
    await change(api, id, isOn)
    const changed = Date.now()
    const shown = await page.evaluate<number>(`notes.since('${id}', '${isOn ? 'On' : 'Off'}')`)
    times.push(Math.max(0, shown - changed))
  }
  return times
}

async function proveEvents(api: TenantsApi, page: Page): Promise<void> {
  const times = await timeChanges(api, page, rounds)
  const middle = `, p50 ${quantile(times, 0.5).toFixed(0)}`
  note('event to changed row, p95', quantile(times, 0.95), 1000, 'ms', middle)
}

async function proveTabs(page: Page): Promise<void> {
  const isStream = (url: string): boolean => new URL(url).pathname === '/api/events'
  let more = 0
  page.context().on('request', (request) => (more += isStream(request.url()) ? 1 : 0))
  for (let tab = 0; tab < 4; tab++) {
    const other = await page.context().newPage()
    await other.goto(LIST)
    await other.locator('[role=row] a').first().waitFor()
  }
  note('event streams of five tabs', 1 + more, 1, 'streams')
  for (const other of page.context().pages()) if (other !== page) await other.close()
}

/** Events of one transaction. */
const BATCH = 1000

async function proveHeap(api: TenantsApi, page: Page, count: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const used = async (): Promise<number> => {
    await page.evaluate('notes.rows.clear()')
    await devtools.send('HeapProfiler.collectGarbage')
    return (await devtools.send('Runtime.getHeapUsage')).usedSize / MIB
  }
  const before = await used()
  const began = performance.now()
  for (let sent = 0; sent < count; sent += BATCH) {
    await sql`insert into event (kind, org, vapp, vm, task, details)
      select 'task.success', org, vapp, id, gen_random_uuid(), '{"operation": "powerOn"}'
      from vm order by id limit ${BATCH} offset ${sent / 10}`.execute(api.cloud.db)
    await page.keyboard.press(sent % (2 * BATCH) === 0 ? 'PageDown' : 'PageUp')
  }
  // The page learns of this change after all others.
  await timeChanges(api, page, 20)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${count} events in ${seconds} s; the heap before them: ${before.toFixed(1)} MiB`)
  note('heap after an hour of events', await used(), 25, 'MiB')
}

const files = await loadPageFiles(DIST)
if (!files) throw new Error('run npm run build:web first')
await using api = await openTenantsApi(files)
const vms = Number(values.vms)
const filled = performance.now()
await addMany(api.cloud, { vms, orgs: Math.max(2, vms / 1000), giant: vms / 5 })
console.log(`${vms} VMs: loaded in ${((performance.now() - filled) / 1000).toFixed(0)} s`)
const token = await tokenOf(api.cloud.db, 'System', 'system administrator')
using tls = await startTlsFront(api.port)
await using browser = await startBrowser({ url: BASE, port: tls.port })
await proveFirstRows(browser, token)
const page = await openCold(browser, token)
await proveScripts(page)
await proveLastRow(page)
await proveScrolling(page)
await proveEvents(api, page)
await proveTabs(page)
await proveHeap(api, page, Number(values.events))
console.log('\n| What | Figure | Goal |\n|---|---|---|')
for (const { what, figure, goal, isMet } of figures)
  console.log(`| ${what} | ${figure} | ${goal} ${isMet ? 'met' : 'MISSED'} |`)
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1
