// Goal: the rows of networks keep their promises to the network server whichever role writes them. Method: a real PostgreSQL; tenants and the
// network server act with their own roles.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import { sql } from 'kysely'

import { finishRecovery } from '../src/recovery/recovery.ts'
import { openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { addExternalRow } from './edge-rows.ts'
import { openZone, projectAll } from './open-zone.ts'

let postgres: Awaited<ReturnType<typeof startDatabases>>
let cloud: CloudDatabase
let vdc: string

before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

async function open(): Promise<CloudDatabase> {
  cloud = await openCloudDatabase(postgres)
  const row = await cloud.db.selectFrom('vdc').select('id').executeTakeFirstOrThrow()
  vdc = row.id
  return cloud
}

const provide = (): Promise<string | null> =>
  cloud.as(cloud.principal, async (tx) => {
    const { rows } = await sql<{
      id: string | null
    }>`select provide_default_network(${vdc}) as id`.execute(tx)
    return rows[0]?.id ?? null
  })

const changes = () =>
  cloud.db
    .selectFrom('network_change')
    .select(['kind', 'unit', 'version'])
    .orderBy('kind')
    .execute()

test('a site without a projection or without a ready host has no default network', async () => {
  await using opened = await open()
  assert.equal(await provide(), null)
  const { zone, fence } = await openZone(opened.db, opened.host)
  await opened.db.updateTable('host').set({ overlay: 'failing' }).execute()
  assert.equal(await provide(), null)
  assert.ok(zone !== '' && BigInt(fence) > 0n)
  assert.deepEqual(await opened.db.selectFrom('network').select('id').execute(), [])
})

test('several requests at once make one default network, behind one edge gateway on the ready host', async () => {
  await using opened = await open()
  await openZone(opened.db, opened.host)
  const made = await Promise.all([1, 2, 3, 4].map(provide))
  assert.equal(new Set(made).size, 1)
  const network = await opened.db.selectFrom('network').selectAll().executeTakeFirstOrThrow()
  const gateway = await opened.db.selectFrom('edge_gateway').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual(
    { ...network, id: '', created_at: undefined },
    {
      ...network,
      id: '',
      created_at: undefined,
      name: 'default',
      kind: 'routed',
      edge_gateway: gateway.id,
      base: '173277184',
      prefix: 20,
      gateway: '10.84.0.1',
      edge_port: 10,
      deleted_at: null,
    },
  )
  assert.deepEqual(gateway.hosts, [opened.host])
  assert.equal(gateway.address, '100.64.0.16')
  assert.equal(new Set([network.key, gateway.key]).size, 2)
  const marked = (await changes()).map(({ kind }) => kind)
  assert.deepEqual(marked, ['edge gateway', 'edge group', 'network'])
})

test('another organisation gets the same range behind its own edge gateway with another address', async () => {
  await using opened = await open()
  await openZone(opened.db, opened.host)
  await provide()
  const { id: org } = await opened.db
    .insertInto('org')
    .values({ name: 'ops' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const other = await opened.db
    .insertInto('vdc')
    .values({ org, name: 'main' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const provideIn = (id: string) =>
    opened.as({ ...opened.principal, org }, (tx) =>
      sql<{ id: string | null }>`select provide_default_network(${id}) as id`.execute(tx),
    )
  assert.equal((await provideIn(vdc)).rows[0]?.id, null, 'not in the vdc of another organisation')
  assert.notEqual((await provideIn(other.id)).rows[0]?.id, null)
  const gateways = await opened.db.selectFrom('edge_gateway').selectAll().orderBy('id').execute()
  assert.deepEqual(
    gateways.map(({ address, group_port: port }) => [address, port]),
    [
      ['100.64.0.16', 10],
      ['100.64.0.17', 11],
    ],
  )
  assert.equal(gateways[0]?.edge_group, gateways[1]?.edge_group)
})

test('edge gateways to two external networks that are made at once are in two groups, also if one was empty', async () => {
  await using opened = await open()
  const { db, principal } = opened
  await openZone(db, opened.host)
  await sql`update host set uplinks = '{out,lan}'`.execute(db)
  const [one, other, third] = [
    await addExternalRow(db, 'one'),
    await addExternalRow(db, 'other'),
    await addExternalRow(db, 'third'),
  ]
  const make = async (tx: typeof db, name: string, external: string) => {
    const { rows } = await sql<{ id: string }>`
      select make_edge_gateway(${principal.org}, ${vdc}, ${name}, '', ${external}) as id`.execute(
      tx,
    )
    return rows[0]?.id ?? assert.fail()
  }
  const first = await make(db, 'first', one)
  await sql`select move_edge_gateway(${first}, ${other})`.execute(db)
  const [inserted, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const earlier = db.transaction().execute(async (tx) => {
    await make(tx, 'earlier', one)
    inserted.resolve()
    await commit.promise
  })
  await inserted.promise
  const later = make(db, 'later', third)
  await until('the later one waits', async () => {
    const { rows } = await sql`select from pg_locks where not granted`.execute(db)
    return rows.length > 0
  })
  commit.resolve()
  await Promise.all([earlier, later])
  const { rows } = await sql<{ names: string[] }>`
    select array_agg(name order by name) as names from edge_gateway group by edge_group order by 1`.execute(
    db,
  )
  assert.deepEqual(
    rows.map(({ names }) => names),
    [['earlier'], ['first'], ['later']],
  )
})

test('a change stays listed until the version that was read is projected, and then its task ends with an event', async () => {
  await using opened = await open()
  const { zone, fence } = await openZone(opened.db, opened.host)
  const network = (await provide()) ?? ''
  await projectAll(opened.db, { zone, fence })
  assert.deepEqual(await changes(), [])
  const change = (description: string) =>
    opened.as(opened.principal, async (tx) => {
      await tx.updateTable('network').set({ description }).where('id', '=', network).execute()
      return tx
        .insertInto('task')
        .values({
          org: opened.principal.org,
          network,
          owner: 'alice',
          operation: 'updateNetwork',
          object_name: 'default',
          state: 'running',
          input: 'null',
        })
        .returning(['id', 'unit_version'])
        .executeTakeFirstOrThrow()
    })
  const end = async (version: string | null, as = fence) => {
    const { rows } = await sql<{
      done: boolean
    }>`select end_network_change(${zone}, ${as}, 'network', ${network}, ${version}) as done`.execute(
      opened.db,
    )
    return rows[0]?.done
  }
  const first = await change('one')
  const second = await change('two')
  assert.ok(Number(second.unit_version) > Number(first.unit_version))
  const states = async () => {
    const rows = await opened.db.selectFrom('task').select('state').orderBy('id').execute()
    return rows.map(({ state }) => state)
  }
  assert.equal(await end(second.unit_version, '1'), false, 'an older fencing token')
  assert.deepEqual(await states(), ['running', 'running'])
  assert.equal(await end(first.unit_version), true)
  assert.deepEqual(await states(), ['success', 'running'])
  assert.ok((await changes()).some(({ kind }) => kind === 'network'))
  await end(second.unit_version)
  assert.deepEqual(await states(), ['success', 'success'])
  const third = await change('three')
  // The response to an earlier end was lost, and the server repeats it.
  await end(second.unit_version)
  assert.deepEqual(await states(), ['success', 'success', 'running'])
  assert.ok(
    (await changes()).some(
      ({ kind, version }) => kind === 'network' && version === third.unit_version,
    ),
  )
  const events = await opened.db
    .selectFrom('event')
    .select(['org', 'task', 'details'])
    .where('kind', '=', 'task.success')
    .execute()
  assert.deepEqual(events[0], {
    org: opened.principal.org,
    task: first.id,
    details: { operation: 'updateNetwork', message: null },
  })
  assert.equal(events.length, 2)
})

test('of two changes at once, the one that is committed later has the higher version', async () => {
  await using opened = await open()
  await openZone(opened.db, opened.host)
  const network = (await provide()) ?? ''
  const versionOf = async (kind: string) =>
    BigInt((await changes()).find((each) => each.kind === kind)?.version ?? 0)
  let second: Promise<unknown> | undefined
  await opened.db.transaction().execute(async (tx) => {
    const change = (description: string) =>
      tx.updateTable('network').set({ description }).where('id', '=', network).execute()
    await change('one')
    second = opened.db
      .updateTable('edge_gateway')
      .set({ routes: '[]' } as never)
      .execute()
    await until('the other one waits', async () => {
      const { rows } = await sql`select from pg_locks where not granted
        and transactionid = pg_current_xact_id()::xid`.execute(tx)
      return rows.length > 0
    })
    await change('two')
  })
  await second
  assert.ok((await versionOf('edge gateway')) > (await versionOf('network')))
})

test('a card and the host of its VM are changes of its networks, and a released address is remembered', async () => {
  await using opened = await open()
  const at = await openZone(opened.db, opened.host)
  const network = (await provide()) ?? ''
  const { vms } = await opened.addVms(1)
  const [vm] = vms
  assert.ok(vm)
  const { org } = opened.principal
  const marked = async (work: Promise<unknown>) => {
    await work
    const units = (await changes()).map(({ kind }) => kind)
    await projectAll(opened.db, at)
    return units
  }
  await projectAll(opened.db, at)
  const card = {
    org,
    vm,
    index: 0,
    network,
    mode: 'POOL' as const,
    key: 10,
    offset: 10,
    address: '10.84.0.10',
    mac: '52:54:00:00:00:01',
  }
  const both = ['edge gateway', 'network']
  const asTenant = opened.as(opened.principal, (tx) => tx.insertInto('nic').values(card).execute())
  assert.deepEqual(await marked(asTenant), both)
  assert.deepEqual(await marked(opened.db.updateTable('vm').set({ cpus: 2 }).execute()), [])
  assert.deepEqual(await marked(opened.db.updateTable('vm').set({ host: null }).execute()), both)
  const removed = opened.as(opened.principal, (tx) => tx.deleteFrom('nic').execute())
  assert.deepEqual(await marked(removed), both)
  const released = await opened.db.selectFrom('released_address').select('offset').execute()
  assert.deepEqual(released, [{ offset: 10 }])
  assert.deepEqual(await marked(opened.db.insertInto('nic').values(card).execute()), both)
  const deleted = sql`update vm set deleted_at = clock_timestamp(), host = null`.execute(opened.db)
  assert.deepEqual(await marked(deleted), both, 'a deleted VM has no cards')
  assert.deepEqual(await opened.db.selectFrom('nic').select('id').execute(), [])
})

test('one server holds a zone at a time, none while the cloud recovers, and the next has a higher fencing token', async () => {
  await using opened = await open()
  const { zone, fence } = await openZone(opened.db, opened.host)
  const hold = async (server: string) => {
    const { rows } = await sql<{
      fence: string | null
    }>`select hold_zone(${zone}, ${server}, 60) as fence`.execute(opened.db)
    return rows[0]?.fence
  }
  assert.equal(await hold('network-2'), null)
  assert.equal(await hold('network-1'), fence)
  await opened.db.updateTable('cloud').set({ recovering: true }).execute()
  assert.equal(await hold('network-1'), null)
  await opened.db.updateTable('cloud').set({ recovering: false }).execute()
  await sql`select release_zone(${zone}, ${fence})`.execute(opened.db)
  const next = await hold('network-2')
  assert.ok(BigInt(next ?? 0) > BigInt(fence))
  const { rows } = await sql<{
    open: boolean
  }>`select open_zone(${zone}, ${fence}, 'ssl:192.0.2.2:6642') as open`.execute(opened.db)
  assert.equal(rows[0]?.open, false)
})

test('after a restore, and in a new era, the same server gets a higher fencing token', async () => {
  await using opened = await open()
  const { zone, fence } = await openZone(opened.db, opened.host)
  const hold = async () => {
    const { rows } = await sql<{
      fence: string
    }>`select hold_zone(${zone}, 'network-1', 60) as fence`.execute(opened.db)
    return BigInt(rows[0]?.fence ?? 0)
  }
  assert.equal(await hold(), BigInt(fence))
  await opened.db.updateTable('cloud').set({ recovering: true }).execute()
  const { recovery } = await opened.db
    .selectFrom('cloud')
    .select('recovery')
    .executeTakeFirstOrThrow()
  assert.equal(await finishRecovery(opened.db, recovery), true)
  const restored = await hold()
  // Above tokens that were issued after the backup, too.
  assert.ok(restored > BigInt(fence) + 1_000_000n)
  assert.equal(await hold(), restored)
  await opened.asOwner((db) => sql`update fence_era set raised = raised + 1`.execute(db))
  const promoted = await hold()
  assert.ok(promoted > restored)
  assert.equal(await hold(), promoted)
})

test('a lease is renewed while tenants have rows locked that refer to the zone', async () => {
  await using opened = await open()
  const { zone, fence } = await openZone(opened.db, opened.host)
  await opened.db.transaction().execute(async (tx) => {
    await tx.insertInto('vdc').values({ org: opened.principal.org, name: 'second' }).execute()
    await opened.db.transaction().execute(async (renewing) => {
      await sql`set local lock_timeout = '1s'`.execute(renewing)
      const { rows } = await sql<{
        fence: string | null
      }>`select hold_zone(${zone}, 'network-1', 60) as fence`.execute(renewing)
      assert.equal(rows[0]?.fence, fence)
    })
  })
})

test('the role of network servers reads what it projects and writes nothing', async () => {
  await using opened = await open()
  await openZone(opened.db, opened.host)
  await provide()
  await opened.asOwner((db) =>
    db.connection().execute(async (one) => {
      await sql`set role skerry_network`.execute(one)
      const { rows } = await sql`select vdc.zone, network.id from network
        join vdc on vdc.org = network.org and vdc.id = network.vdc`.execute(one)
      assert.equal(rows.length, 1)
      for (const statement of [
        'select name from org',
        'select password from account',
        'select image from vm',
        'select public_key from host',
        "update network set name = 'x'",
        'delete from network_change',
        'update network_zone set fence = 1',
      ]) {
        await assert.rejects(sql.raw(statement).execute(one), /permission denied/, statement)
      }
      await sql`reset role`.execute(one)
    }),
  )
})
