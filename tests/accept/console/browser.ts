// Chromium with its own profile, optionally in a lab network, trusting the lab's CA because it is installed in the profile, not
// because certificate checks are disabled.
import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { BROWSER } from '@skerry/lab'
import { chromium, type BrowserContext, type Page } from 'playwright-core'

const run = promisify(execFile)
export const WINDOW = { width: 1100, height: 760 }
/** For whatever a page does on a busy machine; no limit of the product. */
const PATIENCE_MS = 60_000

export interface BrowserOptions {
  /** The caller removes it: it contains profile and CAs. */
  readonly dir: string
  /** The file with the CA certificate to trust. */
  readonly ca?: string
  /** The network namespace to run in; default: the machine's own. */
  readonly netns?: string
  /** Device pixels per CSS pixel; default: 1. */
  readonly scale?: number
}

export interface Browser extends AsyncDisposable {
  readonly context: BrowserContext
  readonly profile: string
  open(address: string): Promise<Page>
}

export async function startBrowser({
  dir,
  ca,
  netns,
  scale = 1,
}: BrowserOptions): Promise<Browser> {
  const home = join(dir, 'home')
  const profile = join(dir, 'profile')
  await mkdir(join(home, '.pki/nssdb'), { recursive: true })
  if (ca !== undefined) {
    const database = ['-d', `sql:${join(home, '.pki/nssdb')}`]
    await run('certutil', [...database, '-N', '--empty-password'])
    await run('certutil', [...database, '-A', '-t', 'C,,', '-n', 'lab', '-i', ca])
  }
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: netns === undefined ? BROWSER : await programIn(dir, netns),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...process.env, HOME: home },
    viewport: WINDOW,
    deviceScaleFactor: scale,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return {
    context,
    profile,
    async open(address) {
      const page = await context.newPage()
      await page.goto(address)
      return page
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** A program that is Chromium in another network; it keeps its pid, so that it can be killed as usual. */
async function programIn(dir: string, netns: string): Promise<string> {
  const file = join(dir, 'chromium')
  await writeFile(file, `#!/bin/sh\nexec nsenter --net=/run/netns/${netns} -- ${BROWSER} "$@"\n`)
  await chmod(file, 0o755)
  return file
}
