// `skerry login` by a code that a user allows in Chromium.
import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Page } from 'playwright-core'

import type { ProfileStore } from '../../../apps/cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../../apps/cli/test/terminal.ts'
import type { WebBrowser } from '../../web/browser.ts'

/** No vmd: these commands ask a cloud. */
export const NOWHERE = 'http://127.0.0.1:1'

interface DeviceLogin {
  /** The cloud, and the certificate of its issuer in PEM. */
  readonly cloud: { readonly url: string; readonly ca: string }
  readonly browser: WebBrowser
  /** NAME@ORGANISATION, as the cloud shows it. */
  readonly user: string
  /** Logs in at the identity server, whose page is open. */
  readonly logIn: (page: Page) => Promise<void>
}

/** Logs in to the profile `work`, with a login at the identity server `sso` in between. */
export async function loginWithCode({ cloud, browser, user, logIn }: DeviceLogin): Promise<{
  readonly page: Page
  readonly profiles: ProfileStore
}> {
  const profiles = keptProfiles()
  const code = Promise.withResolvers<string>()
  await using dir = await mkdtempDisposable(join(tmpdir(), 'device-login-'))
  const pem = join(dir.path, 'ca.pem')
  await writeFile(pem, cloud.ca)
  const login = skerry(NOWHERE, ['login', 'work', cloud.url, '--ca', pem], {
    profiles,
    now: () => performance.now(),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    complain: (line) => code.resolve(/enter ([A-Z]{4}-[A-Z]{4})/.exec(line)?.[1] ?? ''),
  })
  const typed = await Promise.race([
    code.promise,
    login.then(({ err }) => assert.fail(`skerry prints no code: ${err}`)),
  ])
  const page = await browser.open({ user: '', path: `/device?code=${typed}` })
  await page.waitForURL('**/ui/login?to=**')
  await page.getByLabel('User').fill(`@${user.split('@').at(-1)}`)
  await page.getByRole('link', { name: 'Log in with sso' }).click()
  await logIn(page)
  await page.waitForURL('**/ui/device?code=**')
  assert.equal(await page.getByLabel('Code').inputValue(), typed)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByText('skerry on my-laptop').waitFor()
  await page.getByText(user).first().waitFor()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('status').getByText('is logged in').waitFor()
  const done = await login
  assert.equal(done.code, 0, done.err)
  assert.ok(done.out.includes(`${user} is logged in to work`), done.out)
  assert.match((await profiles.read()).clouds['work']?.token ?? '', /^skat_/)
  return { page, profiles }
}
