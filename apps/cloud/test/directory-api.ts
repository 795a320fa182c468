// The tenant API of a cloud beside a real OpenLDAP, whose people log in. See tools/lab/src/servers/directory.ts for who they are.
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startDirectory, until, type Directory } from '@skerry/lab'
import { attribute } from '@skerry/xml'
import { sql, type Kysely } from 'kysely'
import { Attribute, Change, Client } from 'ldapts'

import type { CloudTables } from '../src/database/tables.ts'
import { reconcilePeople } from '../src/reconcile/people.ts'
import { seal } from './cloud-database.ts'
import { hrefOf, logIn, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'

interface Wanted {
  readonly name?: string
  readonly url?: string
  readonly ca?: string
  readonly startTls?: boolean
  readonly groups?: Readonly<Record<string, string>>
}

const usual = {
  admins: 'organisation administrator',
  developers: 'author',
  'ring-b': 'user',
  crowd: 'user',
}

/** The cloud, the directory, and the tokens of two administrators. */
interface Parts {
  readonly directory: Directory
  readonly api: TenantsApi
  /** The token of a system administrator. */
  readonly ruler: string
  /** The token of an administrator of `eng`. */
  readonly chief: string
}

export async function openDirectoryApi(): Promise<DirectoryApi> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'skerry-directory-')))
  const directory = stack.use(await startDirectory(dir.path))
  const api = stack.use(await openTenantsApi())
  const ruler = await api.enter(api.eng.org, 'system administrator')
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  return new DirectoryApi({ directory, api, ruler, chief }, stack.move())
}

export class DirectoryApi implements Parts, AsyncDisposable {
  readonly directory: Directory
  readonly api: TenantsApi
  readonly ruler: string
  readonly chief: string
  readonly #all: AsyncDisposable

  constructor({ directory, api, ruler, chief }: Parts, all: AsyncDisposable) {
    this.directory = directory
    this.api = api
    this.ruler = ruler
    this.chief = chief
    this.#all = all
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#all[Symbol.asyncDispose]())
  }

  bodyOf(wanted: Wanted = {}): string {
    const { directory } = this
    const { name = 'corp', url = directory.url, ca = directory.ca, startTls = false } = wanted
    const groups = Object.entries(wanted.groups ?? usual)
      .map(([group, role]) => `<GroupRole name="${group}" role="${role}"/>`)
      .join('')
    return (
      `<IdentityProvider name="${name}" kind="ldap"><Url>${url}</Url><StartTls>${startTls}</StartTls>` +
      (ca === '' ? '' : `<Ca>${ca}</Ca>`) +
      `<Reader>${directory.reader.dn}</Reader>` +
      `<Password>${directory.reader.password}</Password><Base>${directory.base}</Base>` +
      `<People base="ou=people,${directory.base}"/>` +
      `<Groups base="ou=groups,${directory.base}"/>${groups}</IdentityProvider>`
    )
  }

  listPath(): string {
    return `/api/admin/org/${this.api.eng.org}/identityProviders`
  }

  /** An identity server of `eng`, until the test ends: with it all its users go. */
  async add(wanted: Wanted = {}) {
    const { ask, cloud } = this.api
    const body = this.bodyOf(wanted)
    const added = await ask('POST', this.listPath(), { token: this.ruler, body })
    const path = pathOf(hrefOf(read(added, 201)))
    return {
      path,
      id: path.split('/').at(-1) ?? '',
      async [Symbol.asyncDispose]() {
        await sql`delete from account where provider is not null`.execute(cloud.db)
        await sql`delete from identity_provider where name <> 'lab'`.execute(cloud.db)
        await sql`delete from login_failure`.execute(cloud.db)
      },
    }
  }

  /** A login with one question to the directory. It is 503 if that takes too long, and counts as no attempt. */
  enterOnce(user: string, password = `${user}-secret`) {
    return logIn(this.api.ask, `${user}@eng`, password)
  }

  /** A login that the directory answers: on a busy machine, that may take longer than a login may. */
  enter(user: string, password?: string) {
    return until(`the directory answers ${user}`, async () => {
      const login = await this.enterOnce(user, password)
      return login.status !== 503 && login
    })
  }

  async statusOf(token: string): Promise<number> {
    return (await this.api.ask('GET', '/api/org', { token })).status
  }

  /** One pass of the reconciler, which a busy machine may end as if the directory was silent. */
  passOnce(): Promise<number> {
    return reconcilePeople(this.api.cloud.db, seal)
  }

  /** A pass that the directory answers. */
  pass(): Promise<number> {
    return untilAnswered(this.api.cloud.db, () => this.passOnce())
  }

  async roleOf(token: string): Promise<string | undefined> {
    return attribute(read(await this.api.ask('GET', '/api/session', { token })), 'role')
  }

  async accountsOf(name: string) {
    const { eng, cloud } = this.api
    const { rows } = await sql<{ id: string; role: string; lapsed: boolean }>`
      select id, role, lapsed from account where name = ${name} and org = ${eng.org}`.execute(
      cloud.db,
    )
    return rows
  }

  async eventsOf(kind: string): Promise<Record<string, unknown>[]> {
    const { rows } = await sql<{ details: Record<string, unknown> }>`
      select details from event where kind = ${kind} order by tx, seq`.execute(this.api.cloud.db)
    return rows.map(({ details }) => details)
  }

  /** Changes the directory as its administrator. */
  async change<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { url, ca, admin } = this.directory
    const client = new Client({ url, tlsOptions: { ca } })
    try {
      await client.bind(admin.dn, admin.password)
      return await work(client)
    } finally {
      await client.unbind()
    }
  }

  personDn(uid: string): string {
    return `uid=${uid},ou=people,${this.directory.base}`
  }

  member(operation: 'add' | 'delete', group: string, uid: string): Promise<void> {
    const modification = new Attribute({ type: 'member', values: [this.personDn(uid)] })
    return this.change((client) =>
      client.modify(
        `cn=${group},ou=groups,${this.directory.base}`,
        new Change({ operation, modification }),
      ),
    )
  }
}

/** Repeats passes until no directory was silent. Returns how many accounts they changed. */
export async function untilAnswered(
  db: Kysely<CloudTables>,
  passOnce: () => Promise<number>,
): Promise<number> {
  let changed = 0
  await until('the directory answers a pass', async () => {
    changed += await passOnce()
    const { rows } =
      await sql`select from identity_provider where silent_since is not null and not disabled`.execute(
        db,
      )
    return rows.length === 0
  })
  return changed
}
