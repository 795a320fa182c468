// A person who uses the web UI with the keyboard alone.
import type { Locator, Page } from 'playwright-core'

/** More than any page has controls before its content. */
const TABS_MAX = 120

/** Presses Tab until this control has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  const focused = target.and(page.locator(':focus'))
  for (let presses = 0; presses < TABS_MAX; presses++) {
    if ((await focused.count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${target.toString()}`)
}

/** Moves to this control and presses it, as soon as it can be pressed: some need data that is still being loaded. */
export async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await target.and(page.locator(':not([aria-disabled=true])')).waitFor()
  await tabTo(page, target)
  await page.keyboard.press(key)
}

/** Moves to this field and replaces its text. */
export async function enter(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Runs a command of the palette by its name, as soon as it is offered. */
export async function runCommand(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Search or run a command' })
  await field.and(page.locator(':focus')).waitFor()
  await page.keyboard.type(name)
  const options = page.getByRole('option')
  const option = options.filter({ has: page.getByText(name, { exact: true }) })
  await option.first().waitFor()
  // The list follows what is typed a moment later; then the highlight stays where the arrows move it.
  await options.filter({ hasNotText: name }).first().waitFor({ state: 'detached' })
  const chosen = option.and(page.locator('[data-highlighted]'))
  for (let presses = 0; (await chosen.count()) === 0; presses++) {
    if (presses > TABS_MAX) throw new Error(`the arrows do not reach ${name}`)
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
}

/** Runs a command that asks first, and confirms it. */
export async function runAndConfirm(page: Page, name: string): Promise<void> {
  await runCommand(page, name)
  const dialog = page.getByRole('alertdialog')
  await press(page, dialog.getByRole('button', { name, exact: true }))
  await dialog.waitFor({ state: 'detached' })
}
