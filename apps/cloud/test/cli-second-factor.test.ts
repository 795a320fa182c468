// Goal: a user adds a second factor with `skerry`, logs in with its codes, and gets in without it only by a recovery code or an
// administrator. Method: the CLI against a cell; an app of the test computes the codes of the secret that the CLI prints.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Profile, ProfileStore } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry, type Ran } from '../../cli/test/terminal.ts'
import { nextCode } from './authenticator.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

const NOWHERE = 'http://127.0.0.1:9'
const PASSWORD = 'long enough'

let api: TenantsApi
let system: (...words: readonly string[]) => Promise<Ran>
before(async () => {
  api = await openTenantsApi()
  // Of another organisation: a rule of eng does not concern this user.
  const token = await api.enter(api.ops.org, 'system administrator')
  const work: Profile = { url: url(), user: 'alice@ops', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  system = (...words) => skerry(NOWHERE, words, { profiles, readSecret: async () => PASSWORD })
})
after(() => api[Symbol.asyncDispose]())

const url = (): string => `http://127.0.0.1:${api.port}`

/** A person at a terminal: the password is known, and the app makes codes of the secrets that it has read. */
class Person {
  readonly user: string
  readonly profiles: ProfileStore = keptProfiles()
  readonly prompts: string[] = []
  secret = ''
  /** Typed instead of the next codes. */
  typed: string[] = []

  constructor(name: string) {
    this.user = `${name}@eng`
  }

  does = async (...words: readonly string[]): Promise<Ran> => {
    this.prompts.length = 0
    let heard = ''
    // The secret is beside the JSON, not in it.
    const stream = words.includes('--json') ? 'complain' : 'print'
    const ran = await skerry(NOWHERE, words, {
      profiles: this.profiles,
      [stream]: (text: string) => {
        heard += `${text}\n`
        this.secret = /type its secret: ([A-Z2-7]{32})/.exec(text)?.[1] ?? this.secret
      },
      readSecret: async (prompt) => {
        this.prompts.push(prompt)
        return prompt.startsWith('password')
          ? PASSWORD
          : (this.typed.shift() ?? nextCode(api, this.secret))
      },
    })
    return { ...ran, [stream === 'print' ? 'out' : 'err']: heard + ran.err }
  }

  logIn = (...more: readonly string[]): Promise<Ran> =>
    this.does('login', 'work', url(), '--user', this.user, ...more)
}

async function personNamed(name: string): Promise<Person> {
  const made = await system('user', 'create', `${name}@eng`, '--role', 'author')
  assert.equal(made.code, 0, made.err)
  return new Person(name)
}

const codesIn = (out: string): readonly string[] =>
  [...out.matchAll(/^ {2}([a-z2-7]{4}(?:-[a-z2-7]{4}){3})$/gm)].map(([, code = '']) => code)

test('a second factor is added by its QR code; from then on a login asks for the code', async () => {
  const rita = await personNamed('rita')
  assert.equal((await rita.logIn()).code, 0)
  assert.deepEqual(rita.prompts, ['password of rita@eng: '], 'without one no code is asked for')
  const none = await rita.does('second-factor', 'recovery-codes')
  assert.match(none.out + none.err, /you have no second factor\nnext: skerry second-factor add/)

  rita.typed = ['000000']
  const added = await rita.does('second-factor', 'add', 'phone')
  assert.equal(added.code, 0, added.out)
  assert.deepEqual(rita.prompts, [
    'password of rita@eng: ',
    'code that the app shows: ',
    'code that the app shows: ',
  ])
  assert.match(added.out, /^█{20,}\n[^]*second factor phone is confirmed\n/)
  const codes = codesIn(added.out)
  assert.equal(new Set(codes).size, 10)

  const list = await rita.does('second-factor', 'list')
  assert.match(
    list.out,
    /^NAME +KIND +STATE +CREATED +LAST USED\nphone +TOTP +confirmed +\S+ +\S+\n/,
  )
  assert.match(list.out, /\nrecovery codes left: 10\n$/)
  const json = JSON.parse((await rita.does('second-factor', 'list', '--json')).out) as object
  assert.deepEqual(Reflect.get(json, 'required'), false)

  assert.equal((await rita.logIn()).code, 0)
  assert.deepEqual(rita.prompts, ['password of rita@eng: ', 'code of the second factor: '])
  const [first = '', second = ''] = codes
  assert.equal((await rita.logIn('--code', first)).code, 0, 'a recovery code')
  const again = await rita.logIn('--code', first)
  assert.deepEqual(
    [again.code, /the code if it was asked for/.test(again.out)],
    [1, true],
    again.out,
  )
  rita.typed = ['']
  assert.match((await rita.logIn()).out, /no code of the second factor given\nnext: .*--code CODE/)
  assert.equal((await rita.logIn('--session')).code, 0)
  assert.equal((await rita.logIn('--code', second)).code, 0)
})

test('recovery codes are replaced, and a second factor is removed, with a code each', async () => {
  const sara = await personNamed('sara')
  assert.equal((await sara.logIn('--session')).code, 0)
  const added = await sara.does('second-factor', 'add', 'phone', '--json')
  assert.equal(added.code, 0, added.err)
  assert.deepEqual(sara.prompts, ['code that the app shows: '], 'a session needs no password')
  const replaced = await sara.does('second-factor', 'recovery-codes')
  assert.deepEqual(sara.prompts, ['code of the second factor: '])
  const [first = '', second = ''] = codesIn(replaced.out)
  assert.equal(codesIn(replaced.out).length, 10)
  // With a token the login needs a code too.
  assert.equal((await sara.logIn()).code, 0)
  const wrong = await sara.does('second-factor', 'rm', 'phone', '--code', first, '--code', first)
  assert.match(wrong.out, /the code is wrong, or it was used before/)
  const removed = await sara.does('second-factor', 'rm', 'phone', '--code', second)
  assert.deepEqual(sara.prompts, ['password of sara@eng: ', 'the next code, each counts once: '])
  assert.equal(removed.out, 'second factor phone is removed\n')
  const gone = await sara.does('second-factor', 'rm', 'phone')
  assert.match(gone.out, /there is no second factor phone\nnext: skerry second-factor list/)
  assert.equal((await sara.does('second-factor', 'rm')).code, 2)
  assert.equal((await sara.logIn()).code, 0)
  assert.equal(sara.prompts.length, 1)
})

test('an administrator removes the second factors of a user who lost them', async () => {
  const tina = await personNamed('tina')
  assert.equal((await tina.logIn('--session')).code, 0)
  assert.equal((await tina.does('second-factor', 'add', 'phone')).code, 0)
  const removed = await system('user', 'set', 'tina@eng', '--remove-second-factors')
  assert.deepEqual([removed.code, removed.out], [0, 'tina@eng is changed: author\n'], removed.err)
  assert.equal((await tina.logIn()).code, 0)
  assert.equal(tina.prompts.length, 1)
  assert.equal((await tina.does('user', 'set', 'sara@eng', '--remove-second-factors')).code, 1)
})

test('where an organisation requires one, a login leads to it, and gives a token only then', async () => {
  const uma = await personNamed('uma')
  const set = await system('org', 'set', 'eng', '--require-second-factor', 'yes')
  assert.deepEqual([set.code, set.out], [0, 'organisation eng requires a second factor\n'], set.err)
  try {
    const limited = await uma.logIn()
    assert.equal(limited.code, 0, limited.out)
    assert.match(
      limited.out,
      /requires a second factor[^]*next: skerry second-factor add phone, then/,
    )
    assert.equal((await uma.does('vm', 'list')).code, 1)
    const list = await uma.does('second-factor', 'list')
    assert.match(list.out, /\nyour organisation requires a second factor\n$/)
    assert.equal((await uma.does('second-factor', 'add', 'phone')).code, 0)
    assert.equal((await uma.logIn()).code, 0)
    assert.equal((await uma.does('vm', 'list')).code, 0)
  } finally {
    const unset = await system('org', 'set', 'eng', '--require-second-factor', 'no', '--json')
    assert.deepEqual(JSON.parse(unset.out), { name: 'eng', secondFactorRequired: false })
  }
  assert.equal((await system('org', 'set', 'eng')).code, 2)
})
