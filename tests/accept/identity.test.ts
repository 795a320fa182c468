// Goal: users log in as the guides say, with the programs that they have, and lose access when they leave. Method: a cell in its own
// process with TLS, a real PostgreSQL, a real OpenLDAP, unchanged curl and pyvcloud.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'

import { pythonWith, reasonToSkip, startDirectory, until, type Directory } from '@skerry/lab'
import { makeSeal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import { Attribute, Change, Client } from 'ldapts'

import type { Profile } from '../../apps/cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../apps/cli/test/terminal.ts'
import { hashToken } from '../../apps/cloud/src/auth/access-token.ts'
import { rightsOf } from '../../apps/cloud/src/domain/roles.ts'
import { reconcilePeople } from '../../apps/cloud/src/reconcile/people.ts'
import { addAccessToken } from '../../apps/cloud/src/tenants/access-tokens.ts'
import { untilAnswered } from '../../apps/cloud/test/directory-api.ts'
import { ACCEPT, PASSWORD, startLoneCell, type LoneCell } from '../attack/lone-cell.ts'

const skip = reasonToSkip('cloud', 'clients', 'identity') ?? false
const NOWHERE = 'http://127.0.0.1:1'
const run = promisify(execFile)
const clients = join(import.meta.dirname, 'clients')

let cell: LoneCell
let org: OrgId
let ca: string
const stack = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  cell = stack.use(await startLoneCell())
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'identity-')))
  ca = join(dir.path, 'ca.pem')
  await writeFile(ca, cell.ca)
  org = await cell.addOrg('blue')
})
after(() => stack.disposeAsync())

let count = 0
/** A user without a known password, with an API token. */
async function userWithToken() {
  const name = `bob-${(count += 1)}`
  const { id: account } = await cell.db
    .insertInto('account')
    .values({ org, name, role: 'author', password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = `skat_${name.padEnd(43, 'x')}`
  const principal = { user: name, account, org, orgName: 'blue', ...rightsOf('author') }
  const row = await cell.db
    .transaction()
    .execute((tx) => addAccessToken(tx, principal, { name: 'nightly', hash: hashToken(token) }))
  return { name, token, id: row.id }
}

const revoke = (id: string) => cell.db.deleteFrom('access_token').where('id', '=', id).execute()

async function curl(...words: readonly string[]): Promise<string> {
  const given = ['-sS', '--cacert', ca, '-w', '\n%{http_code}', '-H', `Accept: ${ACCEPT}`]
  return (await run('curl', [...given, ...words])).stdout
}

suite('a token for scripts', { skip }, () => {
  test('curl -u logs in with a token instead of a password, at both addresses', async () => {
    const { name, token, id } = await userWithToken()
    for (const port of [cell.port, cell.originalPort]) {
      const url = `https://127.0.0.1:${port}/api/sessions`
      const login = () => curl('-X', 'POST', '-u', `${name}@blue:${token}`, url)
      assert.match(await login(), /<Session [^]*\n200$/)
    }
    await revoke(id)
    const url = `https://127.0.0.1:${cell.port}/api/sessions`
    assert.match(await curl('-X', 'POST', '-u', `${name}@blue:${token}`, url), /\n401$/)
  })

  test('pyvcloud logs in with a token instead of a password', async () => {
    const { name, token, id } = await userWithToken()
    const python = await pythonWith(join(clients, 'requirements.txt'))
    const url = `https://127.0.0.1:${cell.originalPort}`
    const program = join(clients, 'log-in-with-pyvcloud.py')
    const logIn = () => run(python, [program, url, ca, 'blue', name, token])
    assert.equal((await logIn()).stdout, 'blue\n')
    await revoke(id)
    await assert.rejects(logIn(), /Invalid credentials|401/i)
  })
})

suite('people of a directory', { skip }, () => {
  let directory: Directory
  let profile: Profile
  before(async () => {
    if (skip !== false) return
    const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'identity-slapd-')))
    directory = stack.use(await startDirectory(dir.path))
    const system = await cell.addOrg('System')
    const token = await cell.enter(system, 'system administrator')
    const url = `https://127.0.0.1:${cell.port}`
    profile = { url, user: 'ruler@System', token, ca: cell.ca }
  })

  const kept = (of: Profile) => keptProfiles({ active: 'work', clouds: { work: of } })
  const rule = (...words: readonly string[]) =>
    skerry(NOWHERE, words, {
      profiles: kept(profile),
      readSecret: async () => directory.reader.password,
    })

  const logInOnce = (user: string, password: string) =>
    curl('-X', 'POST', '-u', `${user}@blue:${password}`, `${profile.url}/api/sessions`)

  /** A login that the directory answers: on a busy machine, that may take longer than a login may. */
  const logIn = (user: string, password: string) =>
    until(`the directory answers ${user}`, async () => {
      const answer = await logInOnce(user, password)
      return !answer.endsWith('\n503') && answer
    })

  /** One pass of the reconciler, as a cell runs it every ten minutes. */
  const passOnce = () =>
    reconcilePeople(
      cell.db,
      makeSeal(
        () => cell.sealKey,
        () => randomBytes(12),
      ),
    )

  /** A pass that the directory answers. */
  const pass = () => untilAnswered(cell.db, passOnce)

  async function changeMember(operation: 'add' | 'delete', uid: string): Promise<void> {
    const client = new Client({ url: directory.url, tlsOptions: { ca: directory.ca } })
    await client.bind(directory.admin.dn, directory.admin.password)
    const values = [`uid=${uid},ou=people,${directory.base}`]
    const modification = new Attribute({ type: 'member', values })
    await client.modify(
      `cn=developers,ou=groups,${directory.base}`,
      new Change({ operation, modification }),
    )
    await client.unbind()
  }

  test('an administrator adds a directory with skerry, tests it, and sees it', async () => {
    const pem = join(dirname(ca), 'directory.pem')
    await writeFile(pem, directory.ca)
    const roles = ['--group', 'developers=author', '--group', 'admins=organisation administrator']
    const reads = ['--ca', pem, '--reader', directory.reader.dn, '--base', directory.base]
    const at = ['--org', 'blue', '--server', directory.url]
    for (const name of ['corp', 'spare']) {
      const made = await rule('identity', 'create', name, ...at, ...reads, ...roles)
      assert.equal(made.code, 0, made.err)
    }
    for (const words of [
      ['set', 'spare', '--org', 'blue', '--group', 'developers=user'],
      ['rm', 'spare', '--org', 'blue'],
    ]) {
      const done = await rule('identity', ...words)
      assert.equal(done.code, 0, done.err)
    }
    const tested = await rule('identity', 'test', 'corp', '--org', 'blue', '--json')
    assert.equal(tested.code, 0, tested.err)
    const listed = await rule('identity', 'list', '--org', 'blue', '--json')
    assert.match(listed.out, /"developers": "author"/)
    const removed = await rule('identity', 'set', 'corp', '--org', 'blue', '--group', 'developers')
    assert.equal(removed.code, 2, 'a group without a role')
  })

  test('twenty first logins at once with curl make one account', async () => {
    const logins = await Promise.all(
      Array.from({ length: 20 }, () => logIn('carol', 'carol-secret')),
    )
    assert.deepEqual(new Set(logins.map((each) => each.split('\n').at(-1))), new Set(['200']))
    const accounts = await cell.db
      .selectFrom('account')
      .select('role')
      .where('name', '=', 'carol')
      .execute()
    assert.deepEqual(accounts, [{ role: 'author' }])
  })

  test('wrong, empty and forged credentials are refused', async () => {
    for (const [user, password] of [
      ['bob', 'wrong'],
      ['bob', ''],
      ['*', 'bob-secret'],
      ['bob)(uid=*', 'bob-secret'],
      ['nobody', 'nobody-secret'],
    ] as const) {
      assert.match(await logIn(user, password), /\n401$/, `${user}:${password}`)
    }
    await cell.db.deleteFrom('login_failure').execute()
  })

  test('skerry and pyvcloud log in, and who leaves the group is out within one pass', async () => {
    const profiles = keptProfiles()
    const login = await until('the directory answers skerry', async () => {
      const words = ['login', 'work', profile.url, '--user', 'bob@blue', '--ca', ca]
      const done = await skerry(NOWHERE, words, { profiles, readSecret: async () => 'bob-secret' })
      return !done.err.includes('does not answer') && done
    })
    assert.equal(login.code, 0, login.err)
    const { token = '' } = (await profiles.read()).clouds['work'] ?? {}
    const python = await pythonWith(join(clients, 'requirements.txt'))
    const url = `https://127.0.0.1:${cell.originalPort}`
    const program = join(clients, 'log-in-with-pyvcloud.py')
    for (const password of ['bob-secret', token]) {
      assert.equal(
        (await run(python, [program, url, ca, 'blue', 'bob', password])).stdout,
        'blue\n',
      )
    }
    const list = () => skerry(NOWHERE, ['vm', 'list'], { profiles })
    assert.equal((await list()).code, 0)
    const feed = curl('-N', '-H', `x-cloud-authorization: ${token}`, `${profile.url}/api/events`)
    await changeMember('delete', 'bob')
    assert.equal(await pass(), 1)
    // The stream would never end.
    await feed
    assert.equal((await list()).code, 1)
    for (const password of ['bob-secret', token]) {
      assert.match(await logIn('bob', password), /\n401$/)
    }
    assert.match(await logIn('carol', 'carol-secret'), /\n200$/)
    await changeMember('add', 'bob')
    assert.match(await logIn('bob', 'bob-secret'), /\n200$/)
    assert.match(await logIn('bob', token), /\n401$/, 'a return restores nothing')
  })

  test('while the directory is dead none of its users is lost, and local users log in', async () => {
    await cell.addUser(org, 'local', 'author')
    await directory.kill9()
    assert.match(await logInOnce('carol', 'carol-secret'), /\n503$/)
    assert.match(await logIn('local', PASSWORD), /\n200$/)
    assert.equal(await passOnce(), 0)
    await directory.restart()
    assert.match(await logIn('carol', 'carol-secret'), /\n200$/)
  })
})
