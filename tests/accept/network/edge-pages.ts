// The pages of an edge gateway, of a VM's cards and of who reaches whom, used by an administrator of an organisation in Chromium.
import assert from 'node:assert/strict'

import type { Page } from 'playwright-core'

import type { WebBrowser } from '../../web/browser.ts'

interface EdgePagesOptions {
  readonly browser: WebBrowser
  /** Of the cloud. */
  readonly url: string
  /** Such as olga@blue. */
  readonly user: string
  /** The edge gateway by its address in the API. */
  readonly gateway: string
}

/** A port of an address outside, and where it leads. */
interface PublishedPort {
  readonly outside: string
  readonly inside: string
}

/** One page; each step goes to the address where it is done. */
export class EdgePages {
  readonly page: Page
  readonly #url: string
  readonly #gateway: string

  private constructor(page: Page, url: string, gateway: string) {
    this.page = page
    this.#url = url
    this.#gateway = gateway
  }

  static async open({ browser, url, user, gateway }: EdgePagesOptions): Promise<EdgePages> {
    const page = await browser.open({ user, path: '/edge-gateways' })
    return new EdgePages(page, url, gateway)
  }

  async goTo(path: string): Promise<void> {
    await this.page.goto(`${this.#url}/ui${path}`)
  }

  /** Opens the edge gateway from the list, as users do. */
  async openFromList(): Promise<void> {
    await this.page.getByRole('link', { name: 'default', exact: true }).press('Enter')
    await this.page.getByRole('heading', { name: 'default', exact: true }).waitFor()
  }

  tab(name: string): Promise<void> {
    return this.page.getByRole('tab', { name: new RegExp(`^${name}`) }).click()
  }

  goToTab(tab: 'nat' | 'firewall' | 'addresses' | 'routes'): Promise<void> {
    return this.goTo(`/edge-gateways/${this.#gateway.slice(-36)}?tab=${tab}`)
  }

  row(table: string, name: RegExp) {
    return this.page.getByRole('region', { name: table }).getByRole('row', { name })
  }

  /** Waits until the hosts have what was changed. */
  ready(): Promise<void> {
    return this.page.getByRole('status').getByText('Ready', { exact: true }).waitFor()
  }

  /** Publishes a port of the VM's first card, and returns the address that the page gives. */
  async publish(vm: string, port: number, ofGuest: number): Promise<void> {
    await this.goTo(`/vms/vm-${vm}?tab=networks`)
    await this.page.getByRole('button', { name: 'Actions of card 0' }).click()
    await this.page.getByRole('menuitem', { name: 'Publish a port…' }).click()
    const dialog = this.page.getByRole('dialog')
    // Shown once the edge gateway is loaded: the dialog grows.
    await dialog.getByText(/skerry publish/).waitFor()
    await dialog.getByLabel('Port outside').fill(String(port))
    await dialog.getByLabel('Port of the VM').fill(String(ofGuest))
    await dialog.getByText(new RegExp(`skerry publish \\S+ --port ${port}:${ofGuest}$`)).waitFor()
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await this.page.getByRole('dialog', { name: /is published$/ }).waitFor()
    await this.page.getByRole('button', { name: 'Done' }).click()
  }

  /** Adds a rule that stands before all others. */
  async drop(address: string, port: number): Promise<void> {
    await this.goToTab('firewall')
    await this.page.getByRole('button', { name: 'Add rule' }).click()
    const dialog = this.page.getByRole('dialog')
    await dialog.getByLabel('Policy').selectOption('drop')
    await dialog.getByLabel('Destination', { exact: true }).fill(address)
    await dialog.getByLabel('Destination port').fill(String(port))
    await dialog.getByText(/skerry firewall deny .* --before \d+/).waitFor()
    await dialog.getByRole('button', { name: 'Add rule' }).click()
    await this.row('Firewall rules', new RegExp(`^1 Drop .*${address}:${port}`)).waitFor()
  }

  async removeFirstRule(): Promise<void> {
    await this.goToTab('firewall')
    const rule = this.row('Firewall rules', /^1 Drop /)
    await this.page.getByRole('button', { name: 'Actions of rule 1', exact: true }).click()
    await this.page.getByRole('menuitem', { name: 'Remove' }).click()
    await rule.waitFor({ state: 'detached' })
  }

  /** The drawing has the port, and its table has this word for it. */
  async seeReach({ outside, inside }: PublishedPort, word: 'Passes' | 'Dropped'): Promise<void> {
    await this.goTo('/reach')
    const drawing = this.page.getByRole('img', { name: /^Who reaches whom in / })
    const passage = word === 'Passes' ? 'open' : 'blocked'
    const line = drawing.locator(`g[data-passage=${passage}]`)
    await line.filter({ hasText: `${outside} → ${inside}` }).waitFor()
    const row = new RegExp(`^Outside ${inside} .*${outside} ${word}$`)
    await this.row('Who reaches whom', row).waitFor()
  }

  /** Takes an external address and gives it back. */
  async takeAndRelease(): Promise<void> {
    await this.goToTab('addresses')
    const free = this.row('External addresses', / free /)
    await this.page.getByRole('button', { name: 'Take an address', disabled: false }).click()
    await free.getByRole('button', { name: 'Release' }).click()
    await free.waitFor({ state: 'detached' })
  }

  /**
   * Adds a route while another administrator changes the rules: nothing is written, the page names what they changed, and the route is
   * added on top of it. What the page shows is kept as it was until the request is refused, as if its events were late.
   */
  async addRouteLate(
    [network, router]: readonly [string, string],
    change: () => Promise<void>,
    changed: RegExp,
  ): Promise<void> {
    const { page } = this
    await this.goToTab('routes')
    await page.getByRole('button', { name: 'Add route' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Network').fill(network)
    await dialog.getByLabel('Router').fill(router)
    const { promise: isRefused, resolve: release } = Promise.withResolvers<void>()
    const gateway = (address: URL): boolean => address.pathname.endsWith(this.#gateway.slice(-36))
    await page.route(gateway, async (route) => {
      await isRefused
      await route.continue()
    })
    await change()
    const refused = page.waitForResponse((response) => response.url().endsWith('configureServices'))
    await dialog.getByRole('button', { name: 'Add route' }).click()
    assert.equal((await refused).status(), 409)
    release()
    const conflict = page.getByRole('dialog', { name: /was changed meanwhile$/ })
    await conflict.getByText(changed).waitFor()
    await conflict.getByRole('button', { name: 'Apply again' }).click()
    await this.row('Static routes', new RegExp(`^${network} ${router}`)).waitFor()
    await page.unroute(gateway)
  }

  async removeRoute(network: string): Promise<void> {
    const route = this.row('Static routes', new RegExp(`^${network} `))
    await route.getByRole('button', { name: `Remove the route to ${network}` }).click()
    await route.waitFor({ state: 'detached' })
  }
}
