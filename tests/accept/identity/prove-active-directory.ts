// Logins with a real Samba as the domain controller of an Active Directory: it is added as docs/guides/identity.md says.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startSamba, until } from '@skerry/lab'
import { makeSeal } from '@skerry/service'
import { sql } from 'kysely'

import { keptProfiles, skerry } from '../../../apps/cli/test/terminal.ts'
import { reconcilePeople } from '../../../apps/cloud/src/reconcile/people.ts'
import { untilAnswered } from '../../../apps/cloud/test/directory-api.ts'
import { ACCEPT, share } from '../../attack/lone-cell.ts'
import { NOWHERE } from './device-login.ts'
import { DirectoryAdministration, passwordOf } from './directory-administration.ts'
import type { Proof } from './proof.ts'
import { listVms, startProvedCell, type ProvedCell } from './proved-cell.ts'

const run = promisify(execFile)
const LOGINS = 20
const WRONG = 'user, organisation or password is wrong'
const AT = 'at identity server corp'
/** alice is in a group in a group; bert, carl and the others are in `developers`. */
const people = ['alice', 'bert', 'carl', 'lena', 'nora', 'otto']

/** Logins of users of `blue` with name and password. */
class PasswordLogins {
  readonly #on: ProvedCell
  readonly #ca: string

  constructor(on: ProvedCell, ca: string) {
    this.#on = on
    this.#ca = ca
  }

  /** The answer with its headers. A busy machine may not ask the directory in time, which is 503. */
  async enter(user: string, password: string): Promise<string> {
    const words = ['-sSi', '--cacert', this.#ca, '-X', 'POST', '-H', `Accept: ${ACCEPT}`]
    const to = ['-u', `${user}@blue:${password}`, `${this.#on.url}/api/sessions`]
    return until(`the directory answers ${user}`, async () => {
      const { stdout } = await run('curl', [...words, ...to])
      return !stdout.startsWith('HTTP/1.1 503') && stdout
    })
  }

  /** The token of a new session. */
  async session(user: string, password: string): Promise<string> {
    const answer = await this.enter(user, password)
    const [, token = ''] = /^x-cloud-authorization: (\S+)/im.exec(answer) ?? []
    assert.match(answer, /^HTTP\/1.1 200/, answer)
    assert.equal(await this.#on.statusOf(token), 200)
    return token
  }

  /** Refused with 401 and with this text; the attempt is not counted. */
  async refuse(user: string, password: string, reason: string): Promise<void> {
    const answer = await this.enter(user, password)
    assert.match(answer, /^HTTP\/1.1 401/, `${user}: ${answer}`)
    assert.ok(answer.includes(reason), `${user}: ${answer}`)
    await this.#on.cell.db.deleteFrom('login_failure').execute()
  }

  /** An API token, by `skerry login`. */
  async withSkerry(user: string, password: string) {
    const profiles = keptProfiles()
    const words = ['login', 'work', this.#on.url, '--user', `${user}@blue`, '--ca', this.#ca]
    const done = await until(`the directory answers skerry of ${user}`, async () => {
      const login = await skerry(NOWHERE, words, { profiles, readSecret: async () => password })
      return !login.err.includes('does not answer') && login
    })
    assert.equal(done.code, 0, done.err)
    assert.equal(await listVms(profiles), 0)
    const { token = '' } = (await profiles.read()).clouds['work'] ?? {}
    return { profiles, token }
  }
}

export async function proveActiveDirectory(proof: Proof): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const on = stack.use(await startProvedCell())
  const { cell } = on
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'prove-samba-')))
  const logins = new PasswordLogins(on, await on.file('cell.pem', cell.ca))
  const samba = await proof.show('starts', async () => stack.use(await startSamba(dir.path)))
  const { url, base, ca } = samba
  const administration = stack.use(new DirectoryAdministration(samba))
  await administration.begin()
  for (const name of ['reader', ...people]) await administration.addPerson(name)
  await administration.addGroup('platform-team', ['alice'])
  await administration.addGroup('cloud-admins', [], ['platform-team'])
  await administration.addGroup('developers', people.slice(1))

  /** One pass of the reconciler, as a cell runs it every ten minutes. */
  const seal = makeSeal(
    () => cell.sealKey,
    () => randomBytes(12),
  )
  const pass = () => untilAnswered(cell.db, () => reconcilePeople(cell.db, seal))
  const roles = ['cloud-admins=organisation administrator', 'developers=author']
  const settings = [
    '--active-directory',
    '--server',
    url,
    '--base',
    base,
    '--reader',
    'reader.example@corp.example',
    ...roles.flatMap((role) => ['--group', role]),
  ]
  const create = (name: string, ...words: readonly string[]) => {
    const of = ['identity', 'create', name, '--org', 'blue', ...words]
    return on.rule(passwordOf('reader'), ...of, ...settings)
  }

  await proof.show('LDAPS with a CA of its own: people and groups are found', async (note) => {
    const strange = await create('strange')
    assert.equal(strange.code, 0, strange.err)
    const untrusted = await on.rule('', 'identity', 'test', 'strange', '--org', 'blue')
    assert.equal(untrusted.code, 1, `without the CA: ${untrusted.out}`)
    assert.equal((await on.rule('', 'identity', 'rm', 'strange', '--org', 'blue')).code, 0)
    const made = await create('corp', '--ca', await on.file('directory.pem', ca))
    assert.equal(made.code, 0, made.err)
    const tested = await on.rule('', 'identity', 'test', 'corp', '--org', 'blue')
    assert.equal(tested.code, 0, tested.err)
    note(tested.out.trim())
  })

  await proof.show('sAMAccountName and userPrincipalName log in to one account', async (note) => {
    await logins.session('bert', passwordOf('bert'))
    await logins.session('bert.example@corp.example', passwordOf('bert'))
    const accounts = cell.db.selectFrom('account').select('name').where('org', '=', on.org)
    assert.deepEqual(await accounts.execute(), [{ name: 'bert' }])
    assert.equal(await on.roleOf('bert'), 'author')
    note('author')
  })

  await proof.show('a group in a group gives its role', async (note) => {
    await logins.session('alice', passwordOf('alice'))
    assert.equal(await on.roleOf('alice'), 'organisation administrator')
    note('organisation administrator')
  })

  await proof.show(`${LOGINS} logins in turn, with curl`, async (note) => {
    const took: number[] = []
    for (let n = 0; n < LOGINS; n += 1) {
      const began = performance.now()
      await logins.session('alice', passwordOf('alice'))
      took.push(performance.now() - began)
    }
    note(`median ${Math.round(share(took, 0.5))} ms`)
  })

  await proof.show('wrong, empty and forged credentials are refused', async () => {
    await logins.refuse('bert', 'wrong', WRONG)
    await logins.refuse('bert', '', WRONG)
    await logins.refuse('bert)(cn=*', passwordOf('bert'), WRONG)
    await logins.refuse('*@corp.example', passwordOf('bert'), WRONG)
    await logins.refuse('stranger', passwordOf('bert'), WRONG)
  })

  /** Returns the seconds of the pass, and the API token that it ends. */
  const loseAll = async (name: string, leave: () => Promise<void>) => {
    const session = await logins.session(name, passwordOf(name))
    const { profiles, token } = await logins.withSkerry(name, passwordOf(name))
    await leave()
    const began = performance.now()
    assert.equal(await pass(), 1)
    const seconds = ((performance.now() - began) / 1000).toFixed(2)
    assert.equal(await on.statusOf(session), 401, 'the session')
    assert.equal(await listVms(profiles), 1, 'the API token')
    await logins.refuse(name, token, WRONG)
    assert.equal(await pass(), 0, 'no one else')
    return { seconds, token }
  }
  const lost = await proof.show(
    'a disabled account: one pass ends session and API token',
    async (note) => {
      const { seconds, token } = await loseAll('bert', () => administration.disable('bert'))
      note(`a pass of ${seconds} s`)
      return token
    },
  )
  await proof.show(
    'a disabled account is refused in words, a wrong password as always',
    async () => {
      await logins.refuse('bert', passwordOf('bert'), `the account is disabled ${AT}`)
      await logins.refuse('bert', 'wrong', WRONG)
    },
  )
  await proof.show('enabled again: the password logs in, the API token does not', async () => {
    await administration.enable('bert')
    await logins.session('bert', passwordOf('bert'))
    await logins.refuse('bert', lost, WRONG)
  })
  await proof.show('a deleted person: one pass ends session and API token', async (note) => {
    const { seconds } = await loseAll('carl', () => administration.remove('carl'))
    await logins.refuse('carl', passwordOf('carl'), WRONG)
    note(`a pass of ${seconds} s`)
  })

  await proof.show('a password that must be changed is refused in words', async () => {
    await administration.requireNewPassword('nora')
    const expired = `the password has expired ${AT}: choose another one there`
    await logins.refuse('nora', passwordOf('nora'), expired)
    await logins.refuse('nora', 'wrong', WRONG)
  })
  await proof.show('an expired account is refused in words', async () => {
    await administration.endAccount('otto')
    await logins.refuse('otto', passwordOf('otto'), `the account is expired ${AT}`)
    await logins.refuse('otto', 'wrong', WRONG)
  })
  await proof.show(
    'a locked account is refused as a wrong password; an event says why',
    async (note) => {
      await logins.session('lena', passwordOf('lena'))
      await administration.lock('lena')
      await logins.refuse('lena', passwordOf('lena'), WRONG)
      const { rows } = await sql<{ why: string }>`select details ->> 'why' as why from event
      where kind = 'session.refused' and details ->> 'by' = 'lena'`.execute(cell.db)
      assert.deepEqual(rows, [{ why: 'locked' }])
      note('session.refused: locked')
    },
  )
}
