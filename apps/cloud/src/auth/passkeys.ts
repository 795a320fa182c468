// Passkeys in a page of the web UI: one is made, logs its user in, or proves a user who is logged in. No request says whose passkey it
// wants: the authenticator offers those that it has, so no one learns here who has one.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'

import { Fault } from '@skerry/fault'
import { networkOf } from '@skerry/service'
import type { Kysely } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import {
  KEY_ALGORITHMS,
  problemOfMade,
  problemOfShown,
  type PasskeyProblem,
  type PasskeySite,
} from '../second-factors/decide-passkey.ts'
import { readMade, readShown, type ShownPasskey } from '../second-factors/passkey-answer.ts'
import {
  beginChallenge,
  CHALLENGE_SECONDS,
  takeChallenge,
  type Adding,
} from '../second-factors/passkey-challenges.ts'
import { keepPasskeyProof } from '../second-factors/passkey-proofs.ts'
import {
  countUse,
  credentialsOf,
  findPasskey,
  handleOf,
  type FoundPasskey,
} from '../second-factors/passkeys.ts'
import { newRecoveryCodes } from '../second-factors/recovery-codes.ts'
import { addPasskey, requirePerson } from '../second-factors/second-factors.ts'
import { forgiveFailures, readFailures, recordFailure } from '../tenants/login-failures.ts'
import { CheckQueue, type CheckQueueOptions } from './check-queue.ts'
import type { Sessions } from './sessions.ts'

export interface PasskeyContext extends Omit<CheckQueueOptions, 'bounds'> {
  readonly db: Kysely<CloudTables>
  readonly sessions: Pick<Sessions, 'begin'>
  /** Takes the code of a second factor. Returns whether the account has one; throws if the code is missing or wrong. */
  readonly requireProof: (principal: Principal, code: string | undefined) => Promise<boolean>
  /** 256 bits of secure randomness, as base64url. */
  readonly secret: () => string
  /** The public address of the cloud. */
  readonly base: URL
}

/** Which browser sends a request, and from where. */
export interface Browsing {
  /** The secret in the cookie of the browser. */
  readonly browser: string
  readonly address: string
}

type Asking = Browsing & { readonly isShared: boolean }

/** Browsers make passkeys for host names only. */
export const hasPasskeys = ({ hostname }: URL): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) === 0

export class Passkeys {
  readonly #given: PasskeyContext
  readonly #site: PasskeySite
  readonly #queue: CheckQueue

  constructor(given: PasskeyContext) {
    this.#given = given
    this.#site = { origin: given.base.origin, host: given.base.hostname }
    this.#queue = new CheckQueue(given)
  }

  /** What a page hands to its browser, so that a person shows a passkey. */
  async ask(asking: Asking): Promise<object> {
    const challenge = await this.#begin(asking)
    return {
      challenge,
      rpId: this.#site.host,
      timeout: CHALLENGE_SECONDS * 1000,
      userVerification: 'required',
      allowCredentials: [],
    }
  }

  /** Returns the token of a new session. Whatever is wrong, the answer is the same. */
  async logIn(answer: unknown, came: Browsing): Promise<string> {
    const found = await this.#take(readShown(answer), came)
    if (!found) {
      throw new Fault('unauthenticated', 'this passkey does not log in here', {
        hint: 'log in with the password, and look in the settings whether the passkey is still listed',
      })
    }
    const { org, account: id, user: name, name: passkey } = found
    return this.#given.sessions.begin({ id, org, name }, { address: came.address, passkey })
  }

  /** A passkey of the user, in place of a code: returns a code that counts once. */
  async prove(principal: Principal, answer: unknown, came: Browsing): Promise<string> {
    requirePerson(principal)
    const shown = readShown(answer)
    if (!shown.user.equals(handleOf(principal))) {
      throw new Fault('forbidden', 'this passkey is of another user')
    }
    if (!(await this.#take(shown, came))) {
      throw new Fault('forbidden', 'this passkey proves nothing here')
    }
    const code = this.#given.secret()
    await keepPasskeyProof(this.#given.db, principal, code)
    return code
  }

  /** What a page hands to its browser, so that a person makes a passkey. Who has a second factor proves it now, not when it is made. */
  async askForNew(principal: Principal, code: string | undefined, asking: Asking): Promise<object> {
    requirePerson(principal)
    const { db, requireProof } = this.#given
    const isProved = await requireProof(principal, code)
    const { org, account, user, orgName } = principal
    const challenge = await this.#begin(asking, { org, account, isProved })
    const known = await credentialsOf(db, principal)
    const { host } = this.#site
    const name = `${user}@${orgName}`
    return {
      challenge,
      rp: { id: host, name: host },
      user: { id: handleOf(principal).toString('base64url'), name, displayName: name },
      pubKeyCredParams: KEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_SECONDS * 1000,
      excludeCredentials: known.map((id) => ({
        type: 'public-key',
        id: id.toString('base64url'),
      })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    }
  }

  /** Returns the recovery codes, if it is the first second factor of the user. */
  async add(
    principal: Principal,
    { name, answer }: { readonly name: string; readonly answer: unknown },
    { browser }: Pick<Browsing, 'browser'>,
  ): Promise<readonly string[]> {
    requirePerson(principal)
    const { db, secret } = this.#given
    const made = readMade(answer)
    const taken = await takeChallenge(db, { challenge: made.client.challenge, browser })
    const adding = taken?.adding
    const isAsked = adding?.org === principal.org && adding.account === principal.account
    const problem = isAsked ? problemOfMade(made, this.#site) : 'challenge'
    if (!isAsked || problem !== undefined) {
      throw new Fault(
        'invalid',
        `this passkey was not accepted: ${problems[problem ?? 'challenge']}`,
      )
    }
    const { credential, publicKey, authenticator } = made
    const { isProved } = adding
    const row = { name, credential, publicKey, counter: authenticator.counter, isProved }
    return db
      .transaction()
      .execute((tx) => addPasskey(tx, principal, row, () => newRecoveryCodes(secret)))
  }

  async #begin(asking: Asking, adding?: Adding): Promise<string> {
    const { db, secret, base } = this.#given
    if (!hasPasskeys(base)) {
      throw new Fault(
        'conflict',
        `a passkey needs a host name, and this cloud is at ${base.host}`,
        {
          hint: 'the public address of the cloud is in the configuration of its cells',
        },
      )
    }
    const challenge = secret()
    const { browser } = asking
    await beginChallenge(db, { challenge, browser, ...(adding && { adding }) }, asking)
    return challenge
  }

  /** Wrong passkeys are limited as wrong passwords are. */
  #take(shown: ShownPasskey, came: Browsing): Promise<FoundPasskey | undefined> {
    const { db } = this.#given
    const key = keyOf(shown, came)
    return this.#queue.take(came.address, async () => {
      const { wait, any } = await readFailures(db, key)
      if (wait > 0) {
        throw new Fault('too-many', `too many wrong passkeys: retry in ${wait} s`, {
          detail: String(wait),
        })
      }
      const found = await this.#check(shown, came)
      if (!found) await recordFailure(db, key)
      else if (any) await forgiveFailures(db, key)
      return found
    })
  }

  async #check(shown: ShownPasskey, came: Browsing): Promise<FoundPasskey | undefined> {
    const { db } = this.#given
    const { browser, address } = came
    const taken = await takeChallenge(db, { challenge: shown.client.challenge, browser })
    const found = await findPasskey(db, shown)
    if (!found) return undefined
    const isAsked = taken !== undefined && taken.adding === undefined
    const why = isAsked ? this.#problemOf(shown, found) : 'challenge'
    const isCounted = why === undefined && (await countUse(db, found, shown.authenticator.counter))
    if (isCounted) return found
    const { org, user, name: passkey } = found
    await emitEvent(db, {
      kind: 'session.refused',
      org,
      details: { ...by({ user, address }), passkey, why: why ?? 'counter' },
    })
    return undefined
  }

  #problemOf(
    shown: ShownPasskey,
    { publicKey, isBarred }: FoundPasskey,
  ): PasskeyProblem | 'barred' | undefined {
    return problemOfShown(shown, publicKey, this.#site) ?? (isBarred ? 'barred' : undefined)
  }
}

/** One user as seen from one network, as for passwords. */
const keyOf = ({ user }: ShownPasskey, { address }: Browsing): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['passkey', user.toString('base64url'), networkOf(address)]))
    .digest()

const problems: Readonly<Record<PasskeyProblem | 'challenge', string>> = {
  challenge: 'it was asked for in another browser, more than five minutes ago, or once before',
  use: 'the browser says that no passkey was made',
  origin: 'it was made at another address',
  site: 'it is for another host name',
  present: 'no one was there',
  verified: 'the device must ask for a PIN, a finger or a face',
  credential: 'its name is not the one that the device gave',
  key: 'its key must be Ed25519, P-256, or RSA of 2048 to 4096 bits',
  signature: 'its signature is wrong',
}
