// A cloud's database as a console sees it: through a login that is a member of skerry_console only.
import { randomBytes } from 'node:crypto'

import type { Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { hashOf, issueTicket } from '@skerry/ticket'
import type { OrgId, UserId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Role } from '../src/domain/roles.ts'
import { openCloudDatabase, vmOf, type CloudDatabase } from './cloud-database.ts'
import { addRoleRow } from './role-row.ts'

export interface User {
  readonly org: OrgId
  readonly account: UserId
  readonly user: string
}

export interface ConsoleDatabase extends AsyncDisposable {
  readonly cloud: CloudDatabase
  readonly console: Kysely<object>
  /** The same login, for a separate process. */
  readonly consoleUrl: string
  /** A VM that is on, in this boot. */
  addVm(boot?: string): Promise<VmId>
  addUser(role?: Role, org?: OrgId): Promise<User>
  /** A ticket of this user for the current screen of this VM. */
  ticket(vm: VmId, user: User): Promise<string>
}

export async function openConsoleDatabase(postgres: Postgres): Promise<ConsoleDatabase> {
  const cloud = await openCloudDatabase(postgres)
  // A role of the organisation without the right to see screens.
  await addRoleRow(cloud.db, cloud.principal.org, 'reader')
  const login = `console_${randomBytes(4).toString('hex')}`
  await postgres.psql(`create role ${login} login in role skerry_console`)
  const url = new URL(cloud.url)
  url.username = login
  const console = openDatabase<object>({ url: url.href, applicationName: 'console', size: 20 })
  return {
    cloud,
    console,
    consoleUrl: url.href,
    async addVm(boot = 'boot-1') {
      const { vms } = await cloud.addVms(1, 'POWERED_ON')
      const [vm] = vms
      if (vm === undefined) throw new Error('no VM was made')
      await sql`update vm set boot = ${boot} where id = ${vm}`.execute(cloud.db)
      return vm
    },
    async addUser(role = 'user', org = cloud.principal.org) {
      const user = `user-${randomBytes(4).toString('hex')}`
      const { id } = await cloud.db
        .insertInto('account')
        .values({ org, name: user, role, password: 'none' })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { org, account: id, user }
    },
    async ticket(vm, principal) {
      const secret = randomBytes(32).toString('base64url')
      const row = await vmOf(cloud.db, vm)
      const { boot, host } = row
      if (boot === null || host === null) throw new Error('only a VM that is on has a screen')
      const ticket = { hash: hashOf(secret), vm: row, boot, host, principal }
      await cloud.db.transaction().execute((tx) => issueTicket(tx, ticket))
      return secret
    },
    async [Symbol.asyncDispose]() {
      await console.destroy()
      await cloud[Symbol.asyncDispose]()
      await postgres.psql(`drop role ${login}`)
    },
  }
}
