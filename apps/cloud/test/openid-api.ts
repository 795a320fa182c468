// The tenant API of a cloud, and a browser of plain HTTP that logs in at an OpenID Connect server and comes back.
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { text as textOf } from 'node:stream/consumers'

import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { BASE, hrefOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'

export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Going {
  readonly method?: string
  readonly body?: string
  /** Sec-Fetch-Site, as a browser says it. */
  readonly site?: 'none' | 'same-origin' | 'cross-site'
  /** Redirections to these addresses are returned. */
  readonly stopAt?: (url: URL) => boolean
}

/** Cookies, redirections and one form: what logins need. `port`: where BASE is. */
export class PlainBrowser {
  readonly #port: number
  readonly #ca: string
  readonly cookies = new Map<string, Map<string, string>>()

  constructor(port: number, ca: string) {
    this.#port = port
    this.#ca = ca
  }

  async go(address: string, going: Going = {}): Promise<Page> {
    let url = new URL(address)
    let { method = 'GET', body, site = 'none' } = going
    for (let hop = 0; hop < 15; hop += 1) {
      const page = await this.#send(url, method, body, site)
      const { location } = page.headers
      if (page.status < 300 || page.status > 399 || typeof location !== 'string') return page
      const next = new URL(location, url)
      if (going.stopAt?.(next)) return { ...page, url: next }
      if (next.host !== url.host) site = 'cross-site'
      url = next
      method = 'GET'
      body = undefined
    }
    throw new Error(`too many redirections, the last to ${url.href}`)
  }

  /** The value of a cookie that the cloud has set. */
  cookie(name: string): string | undefined {
    return this.cookies.get(new URL(BASE).host)?.get(name)
  }

  async #send(url: URL, method: string, body: string | undefined, site: string): Promise<Page> {
    const jar = this.cookies.get(url.host) ?? new Map<string, string>()
    this.cookies.set(url.host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      accept: 'text/html',
      'sec-fetch-site': site,
      host: url.host,
      ...(cookie !== '' && { cookie }),
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const path = url.pathname + url.search
    const isOurs = url.origin === BASE
    const to = isOurs
      ? { host: '127.0.0.1', port: this.#port }
      : {
          host: '127.0.0.1',
          port: url.port,
          ca: this.#ca,
          servername: url.hostname.replace('127.0.0.1', ''),
        }
    const answer = Promise.withResolvers<Page>()
    const sent = (isOurs ? requestHttp : requestHttps)(
      { ...to, method, path, headers, agent: false },
      (response) => {
        textOf(response).then((text) => {
          const { statusCode: status = 0, headers: got } = response
          for (const line of got['set-cookie'] ?? []) keep(jar, line)
          answer.resolve({ url, status, headers: got, text })
        }, answer.reject)
      },
    )
    sent.on('error', answer.reject)
    sent.end(body)
    return answer.promise
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
  if (value === '' || /max-age=0\b|expires=thu, 01.jan.1970/i.test(line)) jar.delete(name)
  else jar.set(name, value)
}

interface Wanted {
  readonly name?: string
  readonly issuer: string
  readonly ca: string
  readonly client?: string
  readonly secret?: string
  readonly more?: string
  readonly groups?: Readonly<Record<string, string>>
}

const usual = { admins: 'organisation administrator', developers: 'author' }

export async function openOpenIdApi() {
  const api = await openTenantsApi()
  const ruler = await api.enter(api.eng.org, 'system administrator')
  return new OpenIdApi(api, ruler)
}

export class OpenIdApi implements AsyncDisposable {
  readonly api: TenantsApi
  readonly ruler: string

  constructor(api: TenantsApi, ruler: string) {
    this.api = api
    this.ruler = ruler
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.api[Symbol.asyncDispose]())
  }

  bodyOf(wanted: Wanted): string {
    const {
      name = 'sso',
      issuer,
      ca,
      client = 'skerry',
      secret = 'a secret of the client',
    } = wanted
    const groups = Object.entries(wanted.groups ?? usual)
      .map(([group, role]) => `<GroupRole name="${group}" role="${role}"/>`)
      .join('')
    return (
      `<IdentityProvider name="${name}" kind="oidc"><Url>${issuer}</Url>` +
      (ca === '' ? '' : `<Ca>${ca}</Ca>`) +
      `<Client>${client}</Client><Password>${secret}</Password>${wanted.more ?? ''}${groups}</IdentityProvider>`
    )
  }

  listPath(): string {
    return `/api/admin/org/${this.api.eng.org}/identityProviders`
  }

  /** An identity server of `eng`, until the test ends: with it all its users go. */
  async add(wanted: Wanted) {
    const { ask, cloud } = this.api
    const body = this.bodyOf(wanted)
    const added = read(await ask('POST', this.listPath(), { token: this.ruler, body }), 201)
    const path = pathOf(hrefOf(added))
    const id = path.split('/').at(-1) ?? ''
    return {
      path,
      id,
      document: added,
      async [Symbol.asyncDispose]() {
        await sql`delete from account where provider = ${id}`.execute(cloud.db)
        await sql`delete from identity_provider where id = ${id}`.execute(cloud.db)
      },
    }
  }

  /** The session of a browser, as its page sees it. */
  async sessionOf(browser: PlainBrowser) {
    const cookie = [...(browser.cookies.get(new URL(BASE).host) ?? [])]
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const answer = await this.api.ask('GET', '/api/session', { headers })
    if (answer.status !== 200) return undefined
    const document = read(answer)
    return { user: attribute(document, 'user'), role: attribute(document, 'role') }
  }

  async eventsOf(kind: string): Promise<Record<string, unknown>[]> {
    const { rows } = await sql<{ details: Record<string, unknown> }>`
      select details from event where kind = ${kind} order by tx, seq`.execute(this.api.cloud.db)
    return rows.map(({ details }) => details)
  }
}
