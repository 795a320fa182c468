// Violations of WCAG 2.2 AA and of good practice that axe-core finds on a page.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { CDPSession, Page } from 'playwright-core'

import { PATIENCE_MS } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Tags of rules. In the dark theme only colours differ. */
export const rulesOf = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: ['color-contrast', 'link-in-text-block'],
} as const

/** In the page: what was changed has been drawn. */
export const TWO_FRAMES = `new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('two frames should be drawn')), ${PATIENCE_MS})
    requestAnimationFrame(() => requestAnimationFrame(resolve))
  })`

/** The policy of the page forbids foreign scripts; the debugger's protocol does not. The scripts stay until the page is loaded again. */
export async function openAxe(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axe })
  return session
}

export async function findViolations(
  session: CDPSession,
  theme: keyof typeof rulesOf = 'light',
): Promise<string[]> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `${TWO_FRAMES}
      .then(() => axe.run(document, { runOnly: ${JSON.stringify(rulesOf[theme])}, resultTypes: ['violations'] }))
      .then((found) => JSON.stringify(found.violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary.slice(0, 200))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description)
  return JSON.parse(String(result.value)) as string[]
}
