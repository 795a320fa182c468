// Goal: a template is uploaded in parts, and after an interruption from where it stopped. Method: Chromium against a simulated cell,
// a file on disk, and parts of it that never arrive.
import assert from 'node:assert/strict'
import { mkdtempDisposable, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'

import { PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const MIB = 1024 ** 2
/** As in apps/web/src/api/transfer.ts. */
const PART = 16 * MIB
const SIZE = 20 * PART
let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell()
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

test('a template is uploaded', async () => {
  const page = await browser.open({ path: '/templates?upload=1' })
  const buffer = Buffer.alloc(3 * MIB, 1)
  await page
    .getByLabel('Disk image')
    .setInputFiles({ name: 'tiny.qcow2', mimeType: 'application/octet-stream', buffer })
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await page.getByRole('link', { name: 'tiny' }).waitFor()
  await page.context().close()
})

test('an upload that broke off continues after a reload with the same file, from where it stopped', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'skerry-upload-'))
  const [file, other] = [join(dir.path, 'large.qcow2'), join(dir.path, 'other.qcow2')]
  for (const [path, size] of [
    [file, SIZE],
    [other, MIB],
  ] as const) {
    await writeFile(path, '')
    await truncate(path, size)
  }
  const page = await browser.open({ path: '/templates?upload=1' })
  const parts: string[] = []
  page.on('request', (request) => {
    const range = request.headers()['content-range']
    if (range !== undefined) parts.push(range)
  })
  await page.getByLabel('Disk image').setInputFiles(file)
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  const progress = page.getByRole('progressbar', { name: 'Upload of large' }).first()
  await until('two parts are sent', () => parts.length > 2, PATIENCE_MS)
  cell.setDown(true)
  await page.getByText('Paused: choose the same file to continue').waitFor()
  const percent = Number(await progress.getAttribute('aria-valuenow'))

  cell.setDown(false)
  await page.reload()
  const resume = page.getByRole('button', { name: 'Choose the same file to continue' })
  await resume.waitFor()
  parts.length = 0
  const input = page.getByLabel('File of large', { exact: true })
  await input.setInputFiles(other)
  await page
    .getByRole('region', { name: 'Notifications' })
    .getByText('other.qcow2 is not the file of large')
    .waitFor()
  assert.deepEqual(parts, [])
  await input.setInputFiles(file)
  await page.getByRole('link', { name: 'large' }).waitFor()
  await resume.waitFor({ state: 'detached' })
  const starts = parts.map((part) => Number(/ (\d+)-/.exec(part)?.[1]))
  const [first = NaN] = starts
  assert.ok(first >= PART && first <= (SIZE * (percent + 1)) / 100, `${first} bytes, ${percent} %`)
  const rest = Array.from({ length: (SIZE - first) / PART }, (_, n) => first + n * PART)
  assert.deepEqual(starts, rest)
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
