// Goal: the web UI works with a real cell. Method: Chromium, over TLS and at the public address of the cloud, against the API of a cell
// with PostgreSQL. There is no Temporal: tasks stay queued.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { loadPageFiles } from '@skerry/service'
import { sql } from 'kysely'

import { nextCode } from '../../apps/cloud/test/authenticator.ts'
import { BASE, openTenantsApi, type TenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import { startBrowser, type WebBrowser } from './browser.ts'
import { startTlsFront, type TlsFront } from './tls-front.ts'

const DIST = join(import.meta.dirname, '../../apps/web/dist')
const VM = 'app-vm-1'
const EVENTS = `${BASE}/api/events?after=0-0`
const isEvents = (response: { url(): string }): boolean => response.url() === EVENTS

let api: TenantsApi
let tls: TlsFront
let browser: WebBrowser

before(async () => {
  const files = (await loadPageFiles(DIST)) ?? assert.fail('run npm run build:web')
  api = await openTenantsApi(files)
  const { vms } = await api.cloud.addVms(1, 'POWERED_ON')
  await sql`update vm set name = ${VM}, boot = 'boot' where id = ${vms[0]}`.execute(api.cloud.db)
  await sql`insert into account (org, name, role, password)
    select org, added.name, added.role, password from account,
      (values ('olga', 'organisation administrator'), ('root', 'system administrator'), ('vera', 'author')) added(name, role)
    where account.org = ${api.eng.org} and account.name = 'alice'`.execute(api.cloud.db)
  tls = await startTlsFront(api.port)
  browser = await startBrowser({ url: BASE, password: 'secret', port: tls.port })
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  tls[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

test('a user logs in, sees the VMs and opens one, and a reload keeps the session', async () => {
  const page = await browser.open()
  // Columns get their width when the list is measured: the key goes to the link wherever it is.
  await page.getByRole('link', { name: VM, exact: true }).press('Enter')
  await page.getByRole('heading', { name: VM }).waitFor()
  await page.getByRole('tab', { name: 'Overview' }).waitFor()
  await page.getByRole('img', { name: /^CPU\. CPU: now 12 %/ }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: VM }).waitFor()
  assert.equal(await page.evaluate('document.cookie'), '')
  const [cookie, ...others] = await page.context().cookies()
  assert.deepEqual(others, [])
  assert.equal(cookie?.name, '__Host-cloud-token')
  assert.deepEqual(
    [cookie?.secure, cookie?.httpOnly, cookie?.sameSite, cookie?.path],
    [true, true, 'Strict', '/'],
  )
  await page.context().close()
})

test('a user shuts a VM down: its task is shown, and actions without a link have a reason', async () => {
  const page = await browser.open()
  await page.getByRole('button', { name: `Actions of ${VM}` }).click()
  const start = page.getByRole('menuitem', { name: /^Start/ })
  assert.equal(await start.getAttribute('aria-disabled'), 'true')
  await page.getByRole('menuitem', { name: 'Shut down' }).click()
  await page
    .getByText(new RegExp(`Shutting down ${VM}|Shut down ${VM}`))
    .first()
    .waitFor()
  await page.context().close()
})

test('a user starts all VMs that match: one task, with the results of each VM', async () => {
  await api.cloud.addVms(3, 'POWERED_OFF')
  const page = await browser.open({ path: '/vms?q=vm-*' })
  await page.getByRole('checkbox', { name: 'Select vm-0' }).check()
  await page.getByRole('button', { name: 'Select all 3' }).click()
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Start 3' }).click()
  // Rows move while the list opens.
  await page.getByRole('link', { name: '3 VMs' }).first().press('Enter')
  await page.waitForURL('**/ui/tasks?of=**')
  for (const name of ['vm-0', 'vm-1', 'vm-2']) {
    await page.getByRole('main').getByRole('link', { name, exact: true }).waitFor()
  }
  await page.context().close()
})

test('a user creates a VM', async () => {
  const page = await browser.open({ path: '/vms/new' })
  // Shown once templates and data centre are loaded, whose fields move the others and the button.
  await page.getByText('curl -X POST').waitFor()
  await page.getByLabel('Name').fill('made-by-test')
  await page.getByRole('radio', { name: /debian/ }).check()
  await page.getByRole('button', { name: 'Create VM' }).click()
  await page.getByRole('heading', { name: 'made-by-test' }).waitFor()
  await page.context().close()
})

test('an administrator creates a security group with rules, a label brings a VM into it, and another group keeps it', async () => {
  const page = await browser.open({ user: 'olga@eng', path: '/security-groups/new' })
  await page.getByLabel('Name', { exact: true }).fill('web')
  await page.getByLabel('Labels').fill('role=web')
  await page.getByText('curl -X POST').waitFor()
  await page.getByRole('button', { name: 'Create security group' }).click()
  await page.getByRole('heading', { name: 'web', exact: true }).waitFor()
  const group = page.url()
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Add rule: What its VMs accept' }).click()
  await dialog.getByLabel('Ports').fill('443')
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const accepted = page.getByRole('region', { name: 'What its VMs accept' })
  await accepted.getByRole('row', { name: /^1 tcp 443 anybody/ }).waitFor()
  await page.getByRole('button', { name: 'Add rule: What its VMs send' }).click()
  await dialog.getByLabel('Protocol').selectOption('any')
  await dialog.getByLabel('To', { exact: true }).selectOption('group')
  await dialog.getByLabel('Security group').selectOption('web')
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const sent = page.getByRole('region', { name: 'What its VMs send' })
  await sent.getByRole('row', { name: /^2 any all VMs of web/ }).waitFor()
  await page.getByRole('button', { name: 'Remove rule 1' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No rule: its VMs accept nothing but replies.').waitFor()

  await page.goto(`${BASE}/ui/vms`)
  await page.getByRole('link', { name: VM, exact: true }).press('Enter')
  // The line of a task that is queued comes late, above the tabs.
  await page.getByRole('tab', { name: 'Metadata' }).press('Enter')
  await page.getByLabel('Key').fill('role')
  await page.getByLabel('Value').fill('web')
  await page.getByRole('button', { name: 'Save entry' }).click()
  await page.getByRole('region', { name: 'Metadata' }).getByRole('row', { name: /role/ }).waitFor()
  await page.goto(group)
  const vms = page.getByRole('list', { name: 'VMs with its labels' })
  await vms.getByRole('link', { name: VM }).waitFor()

  const lab = `/api/admin/securityGroup/${api.eng.ids['securityGroup']}`
  const rule = '<Rule><Protocol>any</Protocol><PeerGroup name="web"/></Rule>'
  const olga = await api.enter(api.eng.org, 'organisation administrator')
  const body = `<SecurityGroup name="lab"><Inbound>${rule}</Inbound></SecurityGroup>`
  const named = await api.ask('PUT', lab, { token: olga, body })
  assert.equal(named.status, 200, named.text)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('alert')
    .getByText(/is a peer in rules of lab/)
    .waitFor()
  await page.context().close()
})

test('a security group that someone else changed meanwhile is not overwritten: the page shows their change', async () => {
  const href = `/api/admin/securityGroup/${api.eng.ids['securityGroup']}`
  const page = await browser.open({
    user: 'olga@eng',
    path: `/security-groups/${api.eng.ids['securityGroup']}`,
  })
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Labels').fill('role=lab')
  // What the page shows stays as it was until the request is refused, as if its events were late.
  const { promise: isRefused, resolve: release } = Promise.withResolvers<void>()
  await page.route(`**${href}`, async (route, request) => {
    if (request.method() === 'GET') await isRefused
    await route.continue()
  })
  const rule = '<Rule><Protocol>icmp</Protocol></Rule>'
  const token = await api.enter(api.eng.org, 'organisation administrator')
  const body = `<SecurityGroup name="lab"><Inbound>${rule}</Inbound></SecurityGroup>`
  assert.equal((await api.ask('PUT', href, { token, body })).status, 200)
  const refused = page.waitForResponse((response) => response.request().method() === 'PUT')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  assert.equal((await refused).status(), 409)
  release()
  const conflict = page.getByRole('dialog', { name: /was changed meanwhile/ })
  await conflict.getByText('in: icmp all ports, anybody').waitFor()
  await conflict.getByRole('button', { name: 'Apply again' }).click()
  await page.getByRole('definition').filter({ hasText: 'role=lab' }).waitFor()
  const accepted = page.getByRole('region', { name: 'What its VMs accept' })
  await accepted.getByRole('row', { name: /^1 icmp/ }).waitFor()
  // The event of the change makes the page read once more, maybe just now.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})

test('a dialog that was open when someone else changed the group does not overwrite it, also after the page has read it', async () => {
  const id = api.eng.ids['securityGroup']
  const page = await browser.open({ user: 'olga@eng', path: `/security-groups/${id}` })
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Description').fill('of the laboratory')
  const rule = '<Rule><Protocol>udp</Protocol></Rule>'
  const token = await api.enter(api.eng.org, 'organisation administrator')
  const body = `<SecurityGroup name="lab"><Outbound>${rule}</Outbound></SecurityGroup>`
  const changed = await api.ask('PUT', `/api/admin/securityGroup/${id}`, { token, body })
  assert.equal(changed.status, 200, changed.text)
  // Behind the dialog.
  await page.getByRole('row', { name: /^1 udp/, includeHidden: true }).waitFor()
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  const conflict = page.getByRole('dialog', { name: /was changed meanwhile/ })
  await conflict.getByText('out: udp all ports, anybody').waitFor()
  await page.context().close()
})

test('an administrator of the cloud creates a direct network, and users of the organisation see it', async () => {
  const path = `/admin/orgs/${api.eng.org}?tab=vdcs`
  const admin = await browser.open({ user: 'root@eng', path })
  await admin.getByRole('button', { name: 'Create direct network in centre' }).click()
  const dialog = admin.getByRole('dialog')
  await dialog.getByLabel('Name').fill('wire')
  await dialog.getByLabel('External network').selectOption('office of eng')
  await dialog.getByText(/skerry network create wire --direct 'office of eng' --org eng/).waitFor()
  await dialog.getByRole('button', { name: 'Create' }).click()
  const networks = admin.getByRole('region', { name: 'Networks of centre' })
  await networks.getByRole('link', { name: 'wire' }).waitFor()
  await admin.context().close()
  const page = await browser.open({ path: '/networks' })
  await page.getByRole('row', { name: /^wire Direct .*office of eng/ }).waitFor()
  await page.getByRole('link', { name: 'wire' }).press('Enter')
  await page.getByText(/on the external network office of eng itself/).waitFor()
  await page.goto(`${BASE}/ui/reach`)
  const reach = page.getByRole('region', { name: 'Who reaches whom' })
  await reach.getByRole('row', { name: 'Outside wire office of eng Passes' }).waitFor()
  await page.context().close()
})

test('a user logs out: the cookie is gone', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: VM, exact: true }).waitFor()
  const { status } = await page.evaluate(async () => {
    const answer = await fetch('/api/session', {
      method: 'DELETE',
      headers: { accept: 'application/*+json;version=5.1' },
    })
    return { status: answer.status }
  })
  assert.equal(status, 204)
  assert.deepEqual(await page.context().cookies(), [])
  await page.context().close()
})

test('the cookie counts neither for an address typed in nor for another site', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: VM, exact: true }).waitFor()
  const typed = page.waitForResponse(isEvents)
  // The version of the API is given, so that only the session is missing.
  const accept = 'application/*+json;version=5.1'
  await page.route(EVENTS, (route, request) =>
    route.continue({ headers: { ...request.headers(), accept } }),
  )
  // The browser does not render the response: it offers to save it.
  await page.goto(EVENTS).catch(() => undefined)
  assert.equal((await typed).status(), 401)
  assert.match((await typed).headers()['content-security-policy'] ?? '', /sandbox/)
  const other = await page.context().newPage()
  await other.goto('data:text/html,another site')
  const got = await other.evaluate(
    (url) =>
      fetch(url, { credentials: 'include', mode: 'no-cors' }).then(
        () => 'a response',
        () => 'nothing',
      ),
    EVENTS,
  )
  assert.equal(got, 'nothing')
  await page.context().close()
})

test('an organisation requires a second factor: a user adds one, logs in with it, and an administrator removes it', async () => {
  const require = (isRequired: boolean) =>
    sql`update org set second_factor_required = ${isRequired} where id = ${api.eng.org}`.execute(
      api.cloud.db,
    )
  await require(true)
  const page = await browser.open({ user: '', path: '/login' })
  const logIn = async () => {
    await page.getByLabel('User').fill('vera@eng')
    await page.getByLabel('Password').fill('secret')
    await page.getByRole('button', { name: 'Log in', exact: true }).click()
  }
  await logIn()
  await page.waitForURL('**/ui/second-factor')
  await page.getByRole('button', { name: 'Add second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('phone')
  await dialog.getByRole('button', { name: 'Next' }).click()
  await dialog.getByRole('img', { name: 'QR code of phone' }).waitFor()
  const secret = (await dialog.locator('code').textContent()) ?? ''
  assert.match(secret, /^[A-Z2-7]{32}$/)
  await dialog.getByLabel('Code that the app shows').fill(nextCode(api, secret))
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  const codes = await dialog.locator('code').filter({ hasText: '-' }).textContent()
  assert.equal(codes?.split('\n').length, 10)
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await page.waitForURL('**/ui/')
  await require(false)

  await page.goto(`${BASE}/ui/settings`)
  await page.getByText('Recovery codes left: 10').waitFor()
  await page.getByRole('row', { name: /^phone Confirmed/ }).waitFor()
  await page.context().clearCookies()
  await page.goto(`${BASE}/ui/login?to=/settings`)
  await logIn()
  const code = page.getByLabel('Code of the second factor')
  await code.fill(nextCode(api, secret))
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('button', { name: 'New recovery codes' }).click()
  await dialog.getByLabel('Code of the second factor').fill('000000')
  await dialog.getByRole('button', { name: 'Make new codes' }).click()
  await page.getByText('No new recovery codes were made').first().waitFor()
  await dialog.getByLabel('Code of the second factor').fill(nextCode(api, secret))
  await dialog.getByRole('button', { name: 'Make new codes' }).click()
  await dialog.getByRole('button', { name: 'I have kept them' }).click()

  const admin = await browser.open({ user: 'olga@eng', path: '/org' })
  await admin.getByText('Users choose whether to have one.').waitFor()
  // Rows of users arrive one by one.
  await admin.getByRole('button', { name: 'Actions of vera' }).press('Enter')
  await admin.getByRole('menuitem', { name: 'Remove second factors' }).click()
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await admin.getByText('Removed the second factors of vera').waitFor()
  await admin.context().close()
  await page.reload()
  await page.getByText('None. With a second factor').waitFor()
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
