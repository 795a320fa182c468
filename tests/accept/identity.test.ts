// Goal: users log in as the guide says, with the programs that they have. Method: a cell in its own process with TLS, a real
// PostgreSQL, unchanged curl and pyvcloud.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'

import { pythonWith, reasonToSkip } from '@skerry/lab'
import type { OrgId } from '@skerry/vm'

import { hashToken } from '../../apps/cloud/src/auth/access-token.ts'
import { addAccessToken } from '../../apps/cloud/src/tenants/access-tokens.ts'
import { ACCEPT, startLoneCell, type LoneCell } from '../attack/lone-cell.ts'

const skip = reasonToSkip('cloud', 'clients') ?? false
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
  const principal = { user: name, account, org, orgName: 'blue', role: 'author' } as const
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
