// Goal: the database admits to a screen who has the right there by a share, and no one else. Method: a real PostgreSQL with a console's
// own login; every level, with a user, a group and everyone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { redeemTicket } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Role } from '../src/domain/roles.ts'
import { shareLevels, shareRights } from '../src/domain/shares.ts'
import { startDatabases, vmOf } from './cloud-database.ts'
import { openConsoleDatabase, type ConsoleDatabase, type User } from './console-database.ts'
import { addProviderRow } from './provider-row.ts'

let postgres: Postgres & AsyncDisposable
let it: ConsoleDatabase
before(async () => {
  postgres = await startDatabases()
  it = await openConsoleDatabase(postgres)
})
after(async () => {
  await it[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const redeem = (secret: string) => redeemTicket(it.console, secret, 'console-1', '192.0.2.7')
const change = (statement: ReturnType<typeof sql>) => statement.execute(it.cloud.db)

test('the levels of shares with access to screens in the database match the table of levels', async () => {
  const [vm, neighbour] = [await it.addVm(), await it.addVm()]
  const reader = await it.addUser('reader' as Role)
  const other = await it.addUser('reader' as Role)
  const provider = await addProviderRow(it.cloud.db, reader.org, 'corp')
  await change(sql`insert into group_role (org, provider, name, role)
    values (${reader.org}, ${provider}, 'developers', 'user')`)
  await change(sql`insert into account_group (org, account, provider, name)
    values (${reader.org}, ${reader.account}, ${provider}, 'developers')`)
  const subjects = [
    { account: reader.account },
    { provider, group_name: 'developers' },
    { account: null },
  ]
  for (const level of shareLevels) {
    for (const subject of subjects) {
      const { vapp, org } = await vmOf(it.cloud.db, vm)
      await it.cloud.db
        .insertInto('share')
        .values({ org, vapp, level, ...subject })
        .execute()
      const rights: readonly string[] = shareRights.vapp[level]
      const seen = async (which: VmId, user: User) =>
        typeof (await redeem(await it.ticket(which, user))) === 'object'
      const what = `${level} ${JSON.stringify(subject)}`
      const forAll = 'account' in subject && subject.account === null
      const shows = rights.includes('vm:console')
      assert.deepEqual(
        [await seen(vm, reader), await seen(vm, other), await seen(neighbour, reader)],
        [shows, shows && forAll, false],
        what,
      )
      await change(sql`delete from share`)
      await change(sql`delete from console`)
    }
  }
})
