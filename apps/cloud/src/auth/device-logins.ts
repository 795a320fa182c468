// A program without a browser, such as `skerry login`, asks for an API token; a person allows it in a browser (RFC 8628).
import { createHash, randomInt } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { OWN_RIGHTS, withRights, type RowWithRole } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { accessTokensOf, addAccessToken, requireLogin } from '../tenants/access-tokens.ts'
import { ACCESS_TOKEN, hashToken } from './access-token.ts'

export const deviceBounds = {
  /** How long a person may take. */
  seconds: 600,
  /** How often a program may ask. */
  intervalSeconds: 2,
  /** Programs of one network that wait. */
  ofNetwork: 20,
  /** Wrong codes of one user within this time. */
  wrongCodes: 10,
  wrongMs: 600_000,
} as const

const OPEN = sql`interval '600 s'`
/** Less than the interval that programs receive: their clocks and networks differ. */
const TOO_SOON = sql`interval '1.5 s'`
/** No vowels and nothing that looks alike: no words, nothing to mistake. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LETTERS = 8
const NAME_MAX = 64

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const newCode = (): string =>
  Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** As people type it: in any case, with or without the hyphen. */
export const plainCode = (typed: string): string => typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

export interface DeviceLogin {
  readonly name: string
  readonly address: string
}

/** Why a program gets no token, in the words of RFC 8628. */
export type DeviceRefusal =
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'

export interface GivenToken {
  readonly token: string
  readonly id: string
}

export class DeviceLogins {
  readonly #db: Kysely<CloudTables>
  readonly #secret: () => string
  readonly #now: () => number
  readonly #wrong = new Map<string, { count: number; since: number }>()

  /** `now`: monotonic clock, in milliseconds. */
  constructor(db: Kysely<CloudTables>, secret: () => string, now: () => number) {
    this.#db = db
    this.#secret = secret
    this.#now = now
  }

  /** Begins a login. Returns the secret of the program, and the code for the person. */
  async begin(
    wanted: string,
    address: string,
    isShared: boolean,
  ): Promise<{ readonly device: string; readonly code: string }> {
    const network = networkOf(address)
    const { rows } = await sql<{ open: number }>`select count(*)::integer as open from device_login
      where network = ${network} and began_at > clock_timestamp() - ${OPEN}`.execute(this.#db)
    if (!isShared && (rows[0]?.open ?? 0) >= deviceBounds.ofNetwork) {
      throw new Fault('too-many', 'too many programs of this network wait for a login', {
        detail: '60',
      })
    }
    const name = nameOf(wanted)
    const [device, code] = [this.#secret(), newCode()]
    await this.#db
      .insertInto('device_login')
      .values({ device_hash: hashOf(device), user_code: code, name, address, network })
      .execute()
    return { device, code }
  }

  /** Which program asks with this code. Wrong codes are counted: they are not to be guessed. */
  async find(
    principal: Principal,
    typed: string,
  ): Promise<DeviceLogin & { readonly code: string }> {
    requireLogin(principal, 'log in with a password or an identity server')
    this.#requireBudget(principal.account)
    const code = plainCode(typed)
    const found = await this.#db
      .selectFrom('device_login')
      .select(['name', 'address'])
      .where('user_code', '=', code)
      .where('account', 'is', null)
      .where('denied', '=', false)
      .where('began_at', '>', sql<Date>`clock_timestamp() - ${OPEN}`)
      .executeTakeFirst()
    if (found) return { ...found, code: shownCode(code) }
    this.#countWrong(principal.account)
    throw noProgram()
  }

  /** Lets the program in as this user, or not. Only the first answer counts. */
  async answer(principal: Principal, typed: string, isAllowed: boolean): Promise<void> {
    await this.find(principal, typed)
    const { org, account } = principal
    const { numAffectedRows } = await sql`update device_login
      set org = ${isAllowed ? org : null}, account = ${isAllowed ? account : null}, denied = ${!isAllowed}
      where user_code = ${plainCode(typed)} and account is null and not denied
        and began_at > clock_timestamp() - ${OPEN}`.execute(this.#db)
    if (numAffectedRows === 0n) throw noProgram()
  }

  /** The token of the program, once; or why there is none yet. */
  async take(device: string): Promise<GivenToken | DeviceRefusal> {
    const hash = hashOf(device)
    const { rows } = await sql<{ denied: boolean; allowed: boolean; late: boolean; soon: boolean }>`
      update device_login as now set asked_at = clock_timestamp()
      from (select device_hash, asked_at from device_login where device_hash = ${hash} for update) before
      where now.device_hash = before.device_hash
      returning denied, account is not null as allowed, began_at < clock_timestamp() - ${OPEN} as late,
        coalesce(before.asked_at > clock_timestamp() - ${TOO_SOON}, false) as soon`.execute(
      this.#db,
    )
    const [found] = rows
    if (!found || found.late) return 'expired_token'
    if (found.denied) return 'access_denied'
    if (found.soon) return 'slow_down'
    return found.allowed ? this.#give(hash) : 'authorization_pending'
  }

  /** The login and its token are one transaction: a cell that is killed in it has given nothing, and the program asks again. */
  #give(hash: Buffer): Promise<GivenToken | DeviceRefusal> {
    return this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<AllowedBy>`with given as (
          delete from device_login where device_hash = ${hash} and account is not null
          returning org, account, name, address)
        select given.name as program, given.address, account.org, account.id as account, account.name as "user",
          account.role, ${OWN_RIGHTS} as own, org.name as "orgName"
        from given join account on account.org = given.org and account.id = given.account
          join org on org.id = account.org
        where not account.disabled and not account.lapsed and not org.disabled`.execute(tx)
      const [by] = rows
      if (!by) return 'access_denied'
      const { program, ...principal } = withRights(by)
      const taken = new Set((await accessTokensOf(tx, principal)).map(({ name }) => name))
      let name = program
      for (let count = 2; taken.has(name); count += 1) name = `${program} ${count}`
      const token = `${ACCESS_TOKEN}${this.#secret()}`
      const { id } = await addAccessToken(tx, principal, { name, hash: hashToken(token) })
      return { token, id }
    })
  }

  #requireBudget(account: UserId): void {
    const known = this.#wrong.get(account)
    if (known && this.#now() - known.since > deviceBounds.wrongMs) this.#wrong.delete(account)
    else if (known && known.count >= deviceBounds.wrongCodes) {
      throw new Fault('too-many', 'too many wrong codes', { detail: '600' })
    }
  }

  #countWrong(account: UserId): void {
    const known = this.#wrong.get(account) ?? { count: 0, since: this.#now() }
    known.count += 1
    this.#wrong.set(account, known)
  }
}

interface AllowedBy extends RowWithRole {
  readonly program: string
  readonly address: string
  readonly org: OrgId
  readonly account: UserId
  readonly user: string
  readonly orgName: string
}

const noProgram = (): Fault =>
  new Fault('not-found', 'no program asks with this code, or not any more')

/** The program names itself: what is shown has no control characters and one line. */
function nameOf(wanted: string): string {
  const name = wanted
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, NAME_MAX)
  return name === '' ? 'a program' : name
}
