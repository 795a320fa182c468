// The picture of a cloud task: a lab with a host and booting guests, and `skerry` on a terminal, which follows the task that powers on
// the VMs of a vApp one after the other.
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { cloudByToken, linkTo, logIn, taskIn } from '@skerry/cloud-client'
import { startLab, type LabCloud } from '@skerry/lab'
import { attribute, element } from '@skerry/xml'
import { chromium } from 'playwright-core'

import { personIn, PROGRAM, type Person } from '../../tests/cloud/skerry.ts'
import { inTheMiddle } from './bar.ts'
import { terminalPage } from './page.ts'

const VMS = ['cache', 'db', 'mail', 'web-1', 'web-2', 'web-3']
const LIST = 'skerry list'
const START = 'skerry vapp start shop'

export async function pictureTask(
  file: string,
  { browser: executablePath, scale }: Readonly<{ browser: string; scale: number }>,
): Promise<void> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'task-'))
  await using lab = await startLab({ dir: join(directory.path, 'lab'), hosts: 1, cells: 1 })
  if (!lab.cloud) throw new Error('the lab has no cloud')
  const person = personIn(directory.path)
  await furnish(lab.cloud, person)
  const list = await typed(person, LIST)
  const bar = inTheMiddle(await typed(person, START))
  const { width, height, html } = terminalPage('skerry', [
    [LIST, list],
    [START, bar],
  ])
  await using chrome = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const shown = await chrome.newPage({ viewport: { width, height }, deviceScaleFactor: scale })
  await shown.setContent(html)
  await shown.screenshot({ path: file })
}

/** A logged-in user, and a vApp of several VMs. */
async function furnish({ url, ca: file, tenants }: LabCloud, person: Person): Promise<void> {
  const [tenant] = tenants
  if (!tenant) throw new Error('the cloud has no organisation')
  const principal = `${tenant.user}@${tenant.org}`
  const words = ['login', 'work', url, '--user', principal, '--ca', file]
  const { code, err } = await person.skerry(words, tenant.password)
  if (code !== 0) throw new Error(err)
  const at = { url, ca: await readFile(file, 'utf8') }
  const cloud = cloudByToken(at, await logIn(at, principal, tenant.password))
  const items = VMS.map((name) =>
    element('SourcedItem', {}, element('Source', { href: tenant.template, name })),
  )
  const compose = linkTo(await cloud.get(tenant.vdc), 'add', 'composeVAppParams')
  const body = element('ComposeVAppParams', { name: 'shop', powerOn: false }, ...items)
  const made = await cloud.act('POST', compose, { body })
  const task = attribute(made && taskIn(made), 'href') ?? ''
  await person.does('task', 'wait', task.split('/').at(-1) ?? '')
}

/** Runs a command line on a terminal and returns every byte of its output. */
async function typed(person: Person, line: string): Promise<string> {
  const command = `stty cols 110; ${line.replace(/^skerry/, PROGRAM)}`
  const { code, out, err } = await person.run(['script', '-qfec', command, '/dev/null'])
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${out}${err}`)
  return out
}
