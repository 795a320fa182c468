import { at } from '../addresses.ts'
import { user } from '../documents/admin.ts'
import { Hrefs } from '../http/links.ts'
import { hashPassword } from '../identity/password.ts'
import { changedUser, newUser } from '../params/admin.ts'
import { route } from '../route.ts'
import { changeAccount, insertAccount } from '../store/tenants.ts'
import type { RequestWorld } from '../world.ts'

const SALT_BYTES = 16

/** Before the transaction: a password takes its time, and nobody is kept waiting for it. */
const hashed = ({ secret }: RequestWorld, password: string): Promise<string> =>
  hashPassword(password, Buffer.from(secret(), 'base64url').subarray(0, SALT_BYTES))

export const adminUsers = [
  route({
    name: 'addUser',
    method: 'POST',
    path: at.adminUsers,
    permission: 'org:admin',
    takes: newUser,
    answers: { 201: 'admin.user' },
    doc: 'Makes a user of the organisation, with a role and a password.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const { name, role } = body
      const password = await hashed(world, body.password)
      const account = { org: params.org.id, name, role, password }
      const row = await world.as(who, (tx) => insertAccount(tx, who, account))
      const hrefs = new Hrefs(world.base)
      const headers = { location: hrefs.adminUser(row.id) }
      return { status: 201, headers, body: user(row, asker, hrefs) }
    },
  }),
  route({
    name: 'readUser',
    method: 'GET',
    path: at.adminUser,
    permission: 'org:admin',
    answers: { 200: 'admin.user' },
    doc: 'A user: name, role, whether enabled. Never the password.',
    async handle({ base }, asker) {
      return { status: 200, body: user(asker.params.account, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'changeUser',
    method: 'PUT',
    path: at.adminUser,
    permission: 'org:admin',
    takes: changedUser,
    answers: { 200: 'admin.user' },
    doc: 'Gives a user another role or password, disables or enables one. A disabled user is out at once.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const { password, ...rest } = body
      const change = {
        ...rest,
        ...(password !== undefined && { password: await hashed(world, password) }),
      }
      const row = await world.as(who, (tx) => changeAccount(tx, who, params.account, change))
      return { status: 200, body: user(row, asker, new Hrefs(world.base)) }
    },
  }),
]
