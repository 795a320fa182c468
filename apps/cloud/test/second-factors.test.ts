// Goal: with a second factor a password alone lets no one in, each code lets in once, and no secret of it is stored readably or reported.
// Method: logins and changes over HTTP in both dialects, and at two cells, on a real PostgreSQL; the time is that of the cell.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { makeCheck } from '../src/auth/credentials.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { codeAt, stepAt, toBase32 } from '../src/second-factors/totp.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { openSealed } from './cloud-database.ts'
import { codeNow, SECRET } from './factor-row.ts'
import { codeOf, codesIn, FACTORS, FactorUsers, secretOf } from './factor-users.ts'
import { prolongWaits } from './login-waits.ts'
import {
  find,
  hrefOf,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let users: FactorUsers
before(async () => {
  api = await openTenantsApi()
  users = await FactorUsers.of(api)
})
after(() => api[Symbol.asyncDispose]())
afterEach(() => users.reset())

type Calls = FactorUsers
const logIn: Calls['logIn'] = (...given) => users.logIn(...given)
const send: Calls['send'] = (...given) => users.send(...given)
const addFactor: Calls['addFactor'] = (...given) => users.addFactor(...given)
const confirm: Calls['confirm'] = (...given) => users.confirm(...given)
const enrol: Calls['enrol'] = (user) => users.enrol(user)
const forgetSteps = () => users.forgetSteps()
const eventsOf: Calls['eventsOf'] = (user) => users.eventsOf(user)
const only = <T>([first]: readonly T[]): T => first ?? assert.fail('there is none')

test('a second factor is added, confirmed and used: ten recovery codes once, a password alone is SECOND_FACTOR', async () => {
  const user = await users.add()
  const { token, path, secret, codes, made } = await enrol(user)
  assert.match(
    text(find(made, 'Address')[0]) ?? '',
    /^otpauth:\/\/totp\/cloud\.example:user-\d+%40eng\?/,
  )
  assert.equal(codes.length, 10)
  assert.equal(new Set(codes).size, 10)
  assert.equal((await confirm(token, path, codeNow(1, secret))).status, 409)
  const list = read(await send('GET', FACTORS, token))
  assert.deepEqual(
    ['recoveryCodesLeft', 'required'].map((name) => attribute(list, name)),
    ['10', 'false'],
  )
  assert.equal(attribute(only(find(list, 'SecondFactor')), 'confirmed'), 'true')
  for (const at of api.spoken) {
    const alone = await logIn(user, { at })
    assert.deepEqual([alone.status, codeOf(alone)], [401, 'SECOND_FACTOR'])
    assert.match(alone.text, /x-cloud-second-factor/)
    await forgetSteps()
    const both = await logIn(user, { at, code: codeNow(0, secret) })
    assert.equal(both.status, 200, both.text)
  }
  const byName = (await eventsOf(user)).map(({ kind }) => kind)
  assert.ok(byName.includes('second-factor.made') && byName.includes('second-factor.confirmed'))
})

test('a wrong code is answered and counted as a wrong password, and a missing one is not counted', async () => {
  const user = await users.addGuarded()
  for (let n = 0; n < 2 * FREE_FAILURES; n += 1)
    assert.equal(codeOf(await logIn(user)), 'SECOND_FACTOR')
  const wrong = await logIn(user, { code: '000000' })
  const other = await logIn(user, { password: 'wrong', code: codeNow() })
  assert.deepEqual([wrong.status, wrong.text], [other.status, other.text])
  assert.equal(codeOf(wrong), 'UNAUTHENTICATED')
  for (let n = 2; n < FREE_FAILURES; n += 1) await logIn(user, { code: '000000' })
  await prolongWaits(api.cloud.db)
  const late = await logIn(user, { code: codeNow() })
  assert.deepEqual([late.status, Number(late.headers['retry-after']) > 0], [429, true])
  assert.equal((await logIn(user)).status, 429)
  const refused = (await eventsOf(user)).filter(({ kind }) => kind === 'session.refused')
  assert.equal(refused.length, FREE_FAILURES)
})

test('guesses of a code count from all networks together; a recovery code is accepted nevertheless', async () => {
  const user = await users.add()
  const { codes, secret } = await enrol(user)
  const check = makeCheck(api.cloud.db, users.hashed, {
    now: () => performance.now(),
    open: openSealed,
    clock: { now: () => new Date() },
  })
  const from = (network: number, code: string) =>
    check({ user: user.name, org: 'eng', password: 'secret', code }, `192.0.2.${network}`).then(
      () => 'in',
      (error: unknown) => (error instanceof Fault ? error.kind : String(error)),
    )
  for (let n = 1; n <= FREE_FAILURES; n += 1)
    assert.equal(await from(n, '000000'), 'unauthenticated')
  await prolongWaits(api.cloud.db)
  await forgetSteps()
  assert.equal(await from(77, codeNow(0, secret)), 'too-many')
  assert.equal(await from(78, codes[0] ?? ''), 'in')
  assert.equal(await from(79, codeNow(0, secret)), 'in')
})

test('a code is taken once, also by two cells at the same time', async () => {
  const user = await users.addGuarded()
  const cells = [0, 1].map(() =>
    makeCheck(api.cloud.db, users.hashed, {
      now: () => performance.now(),
      open: openSealed,
      clock: { now: () => new Date() },
    }),
  )
  let code = ''
  for (let round = 0; round < 3; round += 1) {
    await forgetSteps()
    code = codeNow()
    const given = { user: user.name, org: 'eng', password: 'secret', code }
    const done = await Promise.allSettled(
      cells.flatMap((check, at) => [
        check(given, `192.0.2.${at}`),
        check(given, `192.0.2.${at + 2}`),
      ]),
    )
    assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1)
    await sql`delete from login_failure`.execute(api.cloud.db)
  }
  assert.equal((await logIn(user, { code })).status, 401, 'a replay')
})

test('the clock of a cell may be off by one step', async () => {
  const user = await users.addGuarded()
  const start = Date.now() % 30_000
  // From the middle of a step, whenever the test runs.
  const offs = [
    [29_000, 200],
    [-29_000, 200],
    [61_000, 401],
    [-61_000, 401],
  ] as const
  for (const [off, status] of offs) {
    await forgetSteps()
    api.time.aheadMs = 15_000 - start + off
    const code = codeAt(SECRET, stepAt(new Date(Date.now() + 15_000 - start)))
    assert.equal((await logIn(user, { code })).status, status, `${off}`)
  }
})

test('a recovery code lets in once, with an event that says how many are left, and the codes can be replaced', async () => {
  const user = await users.add()
  const { codes, secret } = await enrol(user)
  const [first = '', second = '', third = ''] = codes
  const { token } = await logIn(user, { code: first.toUpperCase() })
  assert.equal((await logIn(user, { code: first })).status, 401)
  const at = await Promise.all([logIn(user, { code: second }), logIn(user, { code: second })])
  assert.deepEqual(
    at.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 401],
  )
  const used = (await eventsOf(user)).filter(({ kind }) => kind === 'second-factor.recovery-used')
  assert.deepEqual(
    used.map(({ details }) => (details as { left: number }).left),
    [9, 8],
  )
  const replace = `${FACTORS}/action/replaceRecoveryCodes`
  assert.equal(codeOf(await send('POST', replace, token)), 'SECOND_FACTOR')
  assert.equal((await send('POST', replace, token, undefined, '000000')).status, 403)
  await forgetSteps()
  const fresh = codesIn(read(await send('POST', replace, token, undefined, codeNow(0, secret))))
  assert.equal(fresh.length, 10)
  assert.equal((await logIn(user, { code: third })).status, 401)
  assert.equal((await logIn(user, { code: fresh[0] ?? '' })).status, 200)
})

test('adding another one and removing one need a code; with the last one the recovery codes end', async () => {
  const user = await users.add()
  const { token, path, secret, codes } = await enrol(user)
  assert.equal(codeOf(await addFactor(token, 'tablet')), 'SECOND_FACTOR')
  assert.equal((await addFactor(token, 'tablet', '000000')).status, 403)
  await forgetSteps()
  const made = read(await addFactor(token, 'tablet', codeNow(0, secret)), 201)
  const tablet = pathOf(hrefOf(made))
  const none = read(await confirm(token, tablet, codeNow(0, secretOf(made))))
  assert.deepEqual(codesIn(none), [])
  assert.equal((await send('DELETE', path, token)).status, 401)
  assert.equal((await send('DELETE', path, token, undefined, 'nonsense')).status, 403)
  assert.equal((await send('GET', path, token)).status, 200)
  await forgetSteps()
  assert.equal(
    (await send('DELETE', path, token, undefined, codeNow(0, secretOf(made)))).status,
    204,
  )
  assert.equal((await send('DELETE', tablet, token, undefined, codes[0])).status, 204)
  assert.equal((await logIn(user)).status, 200)
  const list = read(await send('GET', FACTORS, token))
  assert.deepEqual([attribute(list, 'recoveryCodesLeft'), find(list, 'SecondFactor')], ['0', []])
})

test('five of a user; one that is not confirmed ends after 15 minutes and needs no code to be removed', async () => {
  const user = await users.add()
  const { token } = await logIn(user)
  const made = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => addFactor(token, name)),
  )
  assert.deepEqual(
    made.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 201, 201, 201, 201, 409, 409],
  )
  const [kept] = made.filter(({ status }) => status === 201).map((each) => read(each, 201))
  const path = pathOf(hrefOf(kept))
  assert.equal((await confirm(token, path, '000000')).status, 400)
  assert.equal((await logIn(user)).status, 200, 'it does not count yet')
  assert.equal((await send('DELETE', path, token)).status, 204)
  await sql`update second_factor set made_at = made_at - interval '15 min' where account = ${user.account}`.execute(
    api.cloud.db,
  )
  assert.deepEqual(find(read(await send('GET', FACTORS, token)), 'SecondFactor'), [])
  const again = read(await addFactor(token, 'a'), 201)
  const old = pathOf(hrefOf(again))
  await sql`update second_factor set made_at = made_at - interval '15 min' where account = ${user.account}`.execute(
    api.cloud.db,
  )
  assert.equal((await confirm(token, old, codeNow(0, secretOf(again)))).status, 404)
  await deleteExpired(api.cloud.db)
  const { rows } = await sql`select from second_factor where account = ${user.account}`.execute(
    api.cloud.db,
  )
  assert.equal(rows.length, 0)
})

test('the first confirmed one ends others that were added without a code', async () => {
  const user = await users.add()
  const { token } = await logIn(user)
  const foreign = pathOf(hrefOf(read(await addFactor(token, 'of a thief'), 201)))
  await enrol(user)
  assert.equal((await send('GET', foreign, token)).status, 404)
})

test('API tokens need no code, and change no second factor', async () => {
  const user = await users.add()
  const { token, path } = await enrol(user)
  const body = '<AccessTokenParams name="nightly"/>'
  const made = read(await send('POST', '/api/session/tokens', token, body), 201)
  const script = text(find(made, 'Token')[0]) ?? ''
  const session = await logIn(user, { password: script })
  assert.equal(session.status, 200)
  for (const own of [script, session.token]) {
    const list = await send('GET', FACTORS, own)
    assert.equal(linksOf(read(list))['add'], undefined)
    for (const answer of [
      await addFactor(own, 'x', codeNow()),
      await send('DELETE', path, own, undefined, codeNow()),
      await confirm(own, path, codeNow()),
      await send('POST', `${FACTORS}/action/replaceRecoveryCodes`, own, undefined, codeNow()),
    ]) {
      assert.equal(answer.status, 403, answer.text)
    }
  }
})

test('no secret, code or recovery code is in an event or readable in a row', async () => {
  const user = await users.add()
  const { secret, codes, token } = await enrol(user)
  await forgetSteps()
  const code = codeNow(0, secret)
  await logIn(user, { code })
  await logIn(user, { code: codes[0] ?? '' })
  await logIn(user, { code: 'wrong guess' })
  const { rows } = await sql<{ row: string }>`select to_jsonb(event)::text as row from event
    union all select to_jsonb(second_factor)::text from second_factor
    union all select to_jsonb(recovery_code)::text from recovery_code
    union all select to_jsonb(session)::text from session`.execute(api.cloud.db)
  const all = rows.map(({ row }) => row).join('\n')
  const secrets = [
    toBase32(secret),
    secret.toString('hex'),
    secret.toString('base64'),
    'wrong guess',
    ...codes,
    ...codes.map((each) => each.replaceAll('-', '')),
  ]
  for (const each of secrets) assert.ok(!all.toLowerCase().includes(each.toLowerCase()), each)
  assert.ok(!(await eventsOf(user)).some(({ details }) => JSON.stringify(details).includes(code)))
  const list = await send('GET', FACTORS, token)
  assert.ok(!list.text.includes(toBase32(secret)))
})
