// Users with second factors at a cell, and how they log in.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import type { OrgId, UserId } from '@skerry/vm'
import { text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { ours } from '../src/dialect/dialect.ts'
import type { Role } from '../src/domain/roles.ts'
import type { Answered } from './asking.ts'
import { addFactorRow, codeNow } from './factor-row.ts'
import { lightHash } from './light-hash.ts'
import { find, hrefOf, pathOf, read, type TenantsApi } from './tenants-api.ts'

export const FACTORS = '/api/session/secondFactors'
const HEADER = ours.secondFactorHeader
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export interface User {
  readonly name: string
  readonly org: OrgId
  readonly account: UserId
  /** The address that the user comes from: wrong passwords are also counted by network. */
  readonly from: string
}

export interface LoginSent {
  readonly code?: string
  readonly password?: string
  readonly at?: TenantsApi['spoken'][number]
}

export type LoggedIn = Answered & { readonly token: string }

function fromBase32(word: string): Buffer {
  const bits = Array.from(word, (each) => BASE32.indexOf(each).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

export const secretOf = (made: Element): Buffer => fromBase32(text(find(made, 'Secret')[0]) ?? '')
export const codesIn = (document: Element): string[] =>
  find(document, 'Code').map((each) => text(each) ?? '')
export const codeOf = (answer: { readonly text: string }) =>
  /minorErrorCode="(\w+)"/.exec(answer.text)?.[1]

export class FactorUsers {
  readonly #api: TenantsApi
  readonly #hashed: string
  #count = 0

  private constructor(api: TenantsApi, hashed: string) {
    this.#api = api
    this.#hashed = hashed
  }

  static async of(api: TenantsApi): Promise<FactorUsers> {
    return new FactorUsers(api, await lightHash('secret'))
  }

  /** The hash of the password of all. */
  get hashed(): string {
    return this.#hashed
  }

  async add(role: Role = 'author', org = this.#api.eng.org): Promise<User> {
    this.#count += 1
    const name = `user-${this.#count}`
    const { id: account } = await this.#api.cloud.db
      .insertInto('account')
      .values({ org, name, role, password: this.#hashed })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { name, org, account, from: `127.0.1.${this.#count}` }
  }

  /** With a confirmed second factor whose secret is known. */
  async addGuarded(): Promise<User & { readonly factor: string }> {
    const user = await this.add()
    return { ...user, factor: await addFactorRow(this.#api.cloud.db, user, 'phone', true) }
  }

  /** A session, without the cost of a login. */
  enter = async ({ org, account }: User): Promise<string> => {
    const token = randomBytes(32).toString('base64url')
    await sql`insert into session (token_hash, org, account)
      values (${hashToken(token)}, ${org}, ${account})`.execute(this.#api.cloud.db)
    return token
  }

  logIn = async (
    { name, from }: User,
    { code, password = 'secret', at }: LoginSent = {},
  ): Promise<LoggedIn> => {
    const { ask, dialect } = at ?? { ask: this.#api.ask, dialect: ours }
    const coded = Buffer.from(`${name}@eng:${password}`).toString('base64')
    const answer = await ask('POST', '/api/sessions', {
      from,
      headers: { authorization: `Basic ${coded}`, ...(code !== undefined && { [HEADER]: code }) },
    })
    return { ...answer, token: String(answer.headers[dialect.tokenHeader]) }
  }

  send = (
    method: string,
    path: string,
    token: string,
    body?: string,
    code?: string,
  ): Promise<Answered> =>
    this.#api.ask(method, path, {
      token,
      ...(body !== undefined && { body }),
      ...(code !== undefined && { headers: { [HEADER]: code } }),
    })

  addFactor = (token: string, name: string, code?: string): Promise<Answered> =>
    this.send('POST', FACTORS, token, `<SecondFactorParams name="${name}"/>`, code)

  confirm = (token: string, path: string, code: string): Promise<Answered> =>
    this.send('POST', `${path}/action/confirm`, token, `<SecondFactorCode code="${code}"/>`)

  /** A session with a first second factor. */
  enrol = async (user: User) => {
    const token = await this.enter(user)
    const made = read(await this.addFactor(token, 'phone'), 201)
    const path = pathOf(hrefOf(made))
    const secret = secretOf(made)
    const codes = codesIn(read(await this.confirm(token, path, codeNow(0, secret))))
    return { token, path, secret, codes, made }
  }

  /** The same step can be used again. */
  forgetSteps = async (): Promise<void> => {
    await sql`update second_factor set used_step = 0`.execute(this.#api.cloud.db)
  }

  /** Forgets failures, and what organisations require. */
  reset = async (): Promise<void> => {
    this.#api.time.aheadMs = 0
    await sql`delete from login_failure`.execute(this.#api.cloud.db)
    await sql`update org set second_factor_required = false`.execute(this.#api.cloud.db)
  }

  eventsOf = async ({
    name,
  }: User): Promise<readonly { readonly kind: string; readonly details: object }[]> => {
    const { rows } = await sql<{ kind: string; details: object }>`select kind, details from event
      where details ->> 'by' = ${name} or details ->> 'user' = ${name} order by tx, seq`.execute(
      this.#api.cloud.db,
    )
    return rows
  }

  /** Whose session this is. */
  ownerOf = async (token: string): Promise<{ readonly org: OrgId; readonly account: UserId }> => {
    const { rows } = await sql<{ org: OrgId; account: UserId }>`select org, account from session
      where token_hash = sha256(${token}::bytea)`.execute(this.#api.cloud.db)
    return rows[0] ?? assert.fail('no session')
  }
}
