// A whole flow with secrets of every kind, each recorded here, so that they can be searched wherever they should not be.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { hashPassword } from '../../apps/cloud/src/auth/password.ts'
import { addInvitation } from '../../apps/cloud/src/identity/invitations.ts'
import { codeAt, stepAt } from '../../apps/cloud/src/second-factors/totp.ts'
import { taskOf, type CloudClient, type Reply } from '../../apps/cloud/test/cloud-client.ts'
import { codesIn, FACTORS, secretOf } from '../../apps/cloud/test/factor-users.ts'
import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

export interface Flow {
  /** By kind. */
  readonly secrets: ReadonlyMap<string, string>
  /** Responses that must not contain a secret. */
  readonly answers: readonly string[]
}

const USERS = 15
const CHANGED = 10
const MORE_TOKENS = 5
const TICKETS = 10
const FEW = 5

export async function runFlow(cloud: SmallCloud): Promise<Flow> {
  const flow = new CanaryFlow(cloud, await cloud.logIn())
  await flow.addUsers()
  await flow.logAllIn()
  await flow.makeTokens()
  await flow.addSecondFactors()
  await flow.useScreens()
  await flow.tellGuests()
  await flow.failInEveryWay()
  await flow.invite()
  await flow.logOut()
  return flow
}

class CanaryFlow implements Flow {
  readonly secrets = new Map<string, string>()
  readonly answers: string[] = []
  readonly #cloud: SmallCloud
  readonly #client: CloudClient
  readonly #passwords = new Map<string, string>()
  readonly #tokens = new Map<string, string>()
  #users = ''
  #requested = 0

  constructor(cloud: SmallCloud, client: CloudClient) {
    this.#cloud = cloud
    this.#client = client
  }

  async addUsers(): Promise<void> {
    const password = this.#canary('password of the administrator')
    const { db } = this.#cloud
    const { id: org } = await db.selectFrom('org').select('id').executeTakeFirstOrThrow()
    const hash = await hashPassword(password, randomBytes(16))
    const role = 'organisation administrator'
    await db.insertInto('account').values({ org, name: 'chief', role, password: hash }).execute()
    this.#passwords.set('chief', password)
    await this.#logIn('chief')
    this.#users = `/api/admin/org/${org}/users`
    for (let n = 0; n < USERS; n += 1) {
      const [name, first] = [`user-${n}`, this.#canary(`password ${n}`)]
      const body = `<User name="${name}"><Role name="author"/><Password>${first}</Password></User>`
      const made = await this.#ask('chief', 'POST', this.#users, body)
      assert.equal(made.status, 201, made.text)
      this.#passwords.set(name, first)
      if (n >= CHANGED) continue
      const second = this.#canary(`changed password ${n}`)
      const changed = `<User><Password>${second}</Password></User>`
      const reply = await this.#ask('chief', 'PUT', attribute(made.root, 'href') ?? '', changed)
      assert.equal(reply.status, 200, reply.text)
      this.#passwords.set(name, second)
    }
  }

  async logAllIn(): Promise<void> {
    for (let n = 0; n < USERS; n += 1) await this.#logIn(`user-${n}`)
  }

  async makeTokens(): Promise<void> {
    for (let n = 0; n < USERS + MORE_TOKENS; n += 1) {
      const user = `user-${n % USERS}`
      const body = `<AccessTokenParams name="script-${n}"/>`
      const made = await this.#say(user, 'POST', '/api/session/tokens', body)
      assert.equal(made.status, 201, made.text)
      const token = text(childrenByLocalName(made.root, 'Token')[0]) ?? ''
      this.#keep(`API token ${n}`, token)
      const used = await this.#as(token, 'GET', '/api/org')
      assert.equal(used.status, 200, used.text)
      if (n % 2 === 0) await this.#ask(user, 'DELETE', attribute(made.root, 'href') ?? '')
    }
  }

  /** The secret and the recovery codes are in one response each; a recovery code counts once. */
  async addSecondFactors(): Promise<void> {
    for (let n = 0; n < FEW; n += 1) {
      const user = `user-${CHANGED + n}`
      const body = '<SecondFactorParams name="phone"/>'
      const made = await this.#say(user, 'POST', FACTORS, body)
      assert.equal(made.status, 201, made.text)
      assert.ok(made.root)
      this.#keep(`second factor ${n}`, text(childrenByLocalName(made.root, 'Secret')[0]) ?? '')
      const code = codeAt(secretOf(made.root), stepAt(new Date()))
      const path = `${attribute(made.root, 'href') ?? ''}/action/confirm`
      const confirmed = await this.#say(user, 'POST', path, `<SecondFactorCode code="${code}"/>`)
      assert.equal(confirmed.status, 200, confirmed.text)
      assert.ok(confirmed.root)
      const codes = codesIn(confirmed.root)
      for (const each of codes) this.#keep(`recovery code ${this.secrets.size}`, each)
      const authorization = basic(`${user}@eng`, this.#passwords.get(user) ?? '')
      const sent = { authorization, 'x-cloud-second-factor': codes[0] ?? '' }
      const begun = await this.#send('POST', '/api/sessions', sent)
      assert.equal(begun.status, 200, begun.text)
      await this.#refused(401, 'POST', '/api/sessions', sent)
      await this.#refused(401, 'POST', '/api/sessions', { authorization })
      await this.#ask(user, 'GET', FACTORS)
    }
  }

  /** A VM is created, powered and deleted, so that there are workflows; while it runs, its screen is requested. */
  async useScreens(): Promise<void> {
    const client = this.#client
    const made = await client.instantiate('canary')
    assert.equal(made.status, 201, made.text)
    await client.ended(taskOf(made.root))
    const vapp = attribute(made.root, 'href') ?? ''
    const [children] = childrenByLocalName(await client.get(vapp), 'Children')
    const vm = attribute(childrenByLocalName(children, 'Vm')[0], 'href') ?? ''
    for (let n = 0; n < TICKETS; n += 1) {
      const given = await this.#say(`user-${n}`, 'POST', `${vm}/screen/action/acquireTicket`)
      assert.equal(given.status, 200, given.text)
      this.#keep(`ticket ${n}`, /ticket=([^&<]+)/.exec(given.text)?.[1] ?? '')
    }
    for (const action of ['power/action/reset', 'power/action/powerOff']) {
      const { root, status } = await client.ask('POST', `${vapp}/${action}`)
      assert.equal(status, 202)
      await client.ended(taskOf(root))
    }
    const late = await this.#ask('user-0', 'POST', `${vm}/screen/action/acquireTicket`)
    assert.equal(late.status, 409)
    await client.ended(taskOf((await client.ask('DELETE', vapp)).root))
  }

  /** cloud-init data of guests may contain secrets. */
  async tellGuests(): Promise<void> {
    const { vdc, template } = await this.#client.start()
    const path = `${new URL(vdc).pathname}/action/instantiateVAppTemplate`
    const guestData = (what: string, more = '') =>
      `<GuestCustomizationSection>${more}<UserData>#cloud-config&#10;password: ${this.#canary(what)}</UserData></GuestCustomizationSection>`
    const body = (name: string, guest: string) =>
      `<InstantiateVAppTemplateParams name="${name}"><Source href="${template}"/>${guest}</InstantiateVAppTemplateParams>`
    for (let n = 0; n < FEW; n += 1) {
      const made = await this.#ask(
        'user-1',
        'POST',
        path,
        body(`told-${n}`, guestData(`user data ${n}`)),
      )
      assert.equal(made.status, 201, made.text)
      const ended = await this.#client.ended(taskOf(made.root))
      assert.equal(attribute(ended, 'status'), 'success')
      const vapp = attribute(made.root, 'href') ?? ''
      assert.equal((await this.#ask('user-1', 'GET', vapp)).status, 200)
      const wrong = guestData(
        `rejected user data ${n}`,
        '<ComputerName>no such_name!</ComputerName>',
      )
      assert.equal((await this.#ask('user-1', 'POST', path, body(`no-${n}`, wrong))).status, 400)
    }
  }

  /** Secrets in invalid places: an error may say what was rejected, not its value. */
  async failInEveryWay(): Promise<void> {
    for (let n = 0; n < FEW; n += 1) {
      const name = `user-${n}@eng`
      const guess = (what: string) => this.#canary(`${what} ${n}`)
      await this.#refused(401, 'POST', '/api/sessions', {
        authorization: basic(name, guess('wrong password')),
      })
      const nobody = basic(`nobody-${n}@eng`, guess('password of nobody'))
      await this.#refused(401, 'POST', '/api/sessions', { authorization: nobody })
      await this.#refused(401, 'GET', '/api/org', {
        'x-cloud-authorization': guess('unknown token'),
      })
      await this.#refused(401, 'GET', '/api/org', {
        'x-cloud-authorization': '',
        cookie: `cloud-token=${guess('cookie')}`,
      })
      const body = `<User name="bad-${n}"><Role name="king"/><Password>${guess('refused password')}</Password></User>`
      assert.equal((await this.#ask('chief', 'POST', this.#users, body)).status, 400)
      const broken = `<User name="bad"><Password>${guess('misread password')}</Passwort></User>`
      assert.equal((await this.#ask('chief', 'POST', this.#users, broken)).status, 400)
      const taken = `<User name="user-${n}"><Role name="user"/><Password>${guess('password too many')}</Password></User>`
      assert.equal((await this.#ask('chief', 'POST', this.#users, taken)).status, 409)
    }
  }

  async invite(): Promise<void> {
    for (let n = 0; n < FEW; n += 1) {
      await addInvitation(this.#cloud.db, this.#canary(`invitation ${n}`), undefined)
    }
  }

  async logOut(): Promise<void> {
    for (let n = 0; n < USERS; n += 2) {
      assert.equal((await this.#ask(`user-${n}`, 'DELETE', '/api/session')).status, 204)
    }
    // All documents of the organisation, and of its users.
    const [events, admin] = [
      '/api/query?type=event&pageSize=128',
      this.#users.replace('/users', ''),
    ]
    for (let page = 1; page < 4; page += 1)
      await this.#ask('chief', 'GET', `${events}&page=${page}`)
    await this.#ask('chief', 'GET', admin)
    await this.#ask('user-1', 'GET', '/api/session/tokens')
  }

  #canary(what: string): string {
    return this.#keep(what, `canary-${randomBytes(12).toString('hex')}`)
  }

  #keep(what: string, secret: string): string {
    assert.ok(secret.length >= 16, what)
    this.secrets.set(what, secret)
    return secret
  }

  async #logIn(user: string): Promise<void> {
    const authorization = basic(`${user}@eng`, this.#passwords.get(user) ?? '')
    const reply = await this.#send('POST', '/api/sessions', { authorization })
    assert.equal(reply.status, 200, reply.text)
    this.#tokens.set(
      user,
      this.#keep(`session of ${user}`, String(reply.headers['x-cloud-authorization'])),
    )
    this.answers.push(reply.text)
  }

  async #refused(
    status: number,
    method: string,
    path: string,
    headers: Record<string, string>,
  ): Promise<void> {
    const reply = await this.#send(method, path, headers)
    assert.equal(reply.status, status, reply.text)
    this.answers.push(reply.text, JSON.stringify(reply.headers))
  }

  /** These responses are searched. */
  async #ask(user: string, method: string, path: string, body?: string): Promise<Reply> {
    const reply = await this.#say(user, method, path, body)
    this.answers.push(reply.text, JSON.stringify(reply.headers))
    return reply
  }

  #say(user: string, method: string, path: string, body?: string): Promise<Reply> {
    return this.#as(this.#tokens.get(user) ?? '', method, path, body)
  }

  #as(token: string, method: string, path: string, body?: string): Promise<Reply> {
    return this.#send(method, path, { 'x-cloud-authorization': token }, body)
  }

  /** To one cell after the other. */
  #send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Reply> {
    const { cells } = this.#cloud
    const cell = cells[(this.#requested += 1) % cells.length]
    const where = path.startsWith('https:') ? new URL(path).pathname : path
    return this.#client
      .at(cell?.url ?? '')
      .ask(method, where, { headers, ...(body !== undefined && { body }) })
  }
}

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
