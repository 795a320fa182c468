// The content of a console's page, compared with the guest and its hypervisor.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type LabHost } from '@skerry/lab'
import type { Page } from 'playwright-core'

import { inDomain } from '../in-guest.ts'
import { likeness, readPng } from './read-png.ts'

/** Generous: guests are emulated on few cores. */
export const PATIENCE_MS = 60_000
const ASK_AGAIN_MS = 250
/** A blinking cursor and a line that is just being drawn. */
const ALIKE = 0.97
/** Fewer pixels than a short line has could be any screen. */
const LIT_MIN = 200

export interface Guest {
  readonly host: LabHost
  readonly domain: string
}

/** Waits until the page shows this connection state. */
export async function untilState(page: Page, state: string, timeout = PATIENCE_MS): Promise<void> {
  const at = page.locator('#state')
  await at.filter({ hasText: new RegExp(`^(?:${state})$`) }).waitFor({ timeout })
}

/** The headline and the advice of the card over the screen. */
export async function noticeOf(page: Page): Promise<string> {
  await page.locator('#notice').waitFor()
  const parts = await page.locator('#headline, #advice p').allInnerTexts()
  return parts.join('\n')
}

/** The text of the guest's first terminal, from its own kernel. */
const textOf = ({ host, domain }: Guest): Promise<string> =>
  inDomain(host, domain, 'fold -w 80 /dev/vcs1', PATIENCE_MS)

/** Waits until the guest's terminal has this text, and the page's canvas matches the hypervisor's screenshot. */
export async function untilSeen(
  page: Page,
  guest: Guest,
  wanted: RegExp,
  timeout = PATIENCE_MS,
): Promise<number> {
  let alike = 0
  const isSeen = async (): Promise<boolean> => {
    const shows = wanted.test(await textOf(guest).catch(() => ''))
    alike = shows ? await alikeness(page, guest) : 0
    if (alike < ALIKE) await sleep(ASK_AGAIN_MS)
    return alike >= ALIKE
  }
  await until(`${wanted} is on the canvas`, isSeen, timeout)
  return alike
}

async function alikeness(page: Page, guest: Guest): Promise<number> {
  const [shown, real] = [await canvasOf(page), await screenshotOf(guest)]
  return likeness(readPng(shown), readPng(real), LIT_MIN)
}

/** Characters that need Shift on the guest's US keyboard, and their keys. */
const shifted: Readonly<Record<string, string>> = {
  '"': 'Quote',
  $: 'Digit4',
  '&': 'Digit7',
  '*': 'Digit8',
  '(': 'Digit9',
  ')': 'Digit0',
  '|': 'Backslash',
  '>': 'Period',
}

/** Presses keys on the screen, with Shift if needed. */
export async function typeInto(page: Page, text: string): Promise<void> {
  await page.locator('canvas').click()
  await typeKeys(page, text)
}

/** The same where the screen has the focus already. */
export async function typeKeys(page: Page, text: string): Promise<void> {
  for (const each of text) {
    const key = shifted[each] ?? (/[A-Z]/.test(each) ? `Key${each}` : undefined)
    await page.keyboard.press(key === undefined ? enter(each) : `Shift+${key}`, { delay: 20 })
  }
}

const enter = (each: string): string => (each === '\n' ? 'Enter' : each)

/** The canvas as PNG. */
export async function canvasOf(page: Page): Promise<Buffer> {
  const url = await page.evaluate<string>(`document.querySelector('canvas').toDataURL('image/png')`)
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

/** libvirt's screenshot of the same screen, without our code. */
async function screenshotOf({ host, domain }: Guest): Promise<Buffer> {
  const file = join(host.dir, 'log', `${domain}.png`)
  const { code, stderr } = await host.run(['virsh', 'screenshot', domain, file])
  assert.equal(code, 0, stderr)
  return readFile(file)
}
