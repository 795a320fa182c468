// Goal: administrators read what their organisation used: by hour, day and month, complete or so far, in XML, JSON and CSV, and with skerry.
// Method: HTTP against the tenant API on a real PostgreSQL, whose clock of metering the test sets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, childrenByLocalName, readXml } from '@skerry/xml'
import { sql } from 'kysely'

import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { hoursOf } from '../src/metering/meters.ts'
import { usageRangeOf } from '../src/metering/usage-range.ts'
import { openTenantsApi, XML, type TenantsApi } from './tenants-api.ts'
import { foldUntil, startMetering } from './usage-model.ts'

let api: TenantsApi
let admin: string
before(async () => {
  api = await openTenantsApi()
  admin = await api.enter(api.eng.org, 'organisation administrator')
  const { db } = api.cloud
  // Only what the test adds is metered.
  await sql`update vm set deleted_at = clock_timestamp()`.execute(db)
  await sql`update external_address set purpose = 'gateway'`.execute(db)
  await sql`update template set metered_since = '2027-01-01'`.execute(db)
  await sql`delete from usage_span`.execute(db)
  await setTime('2026-02-27T22:00:00Z')
  await startMetering(db, Date.parse('2026-02-27T22:00:00Z'))
  await addVms()
})
after(() => api[Symbol.asyncDispose]())

const setTime = (time: string) =>
  api.cloud.asOwner((db) =>
    sql`create or replace function usage_clock() returns timestamptz language sql volatile
      return ${sql.lit(time)}::timestamptz`.execute(db),
  )

/** A VM of 2 CPUs, 2048 MiB and 10240 MiB: made at 22:00, on from 22:30 to 00:15 the next day, with a snapshot since 23:00. */
async function addVms(): Promise<void> {
  const { db } = api.cloud
  const { rows } = await sql<{ id: string }>`
    insert into vm (org, vapp, name, image, status, cpus, memory_mib, disk_mib)
    select org, id, 'metered', (select digest from image limit 1), 'POWERED_OFF', 2, 2048, 10240
    from vapp where org = ${api.eng.org} limit 1 returning id`.execute(db)
  const [{ id } = { id: '' }] = rows
  await setTime('2026-02-27T22:30:00Z')
  await sql`update vm set status = 'POWERED_ON' where id = ${id}`.execute(db)
  await setTime('2026-02-27T23:00:00Z')
  await sql`update vm set snapshot_mib = 1024 where id = ${id}`.execute(db)
  await setTime('2026-02-28T00:15:00Z')
  await sql`update vm set status = 'POWERED_OFF' where id = ${id}`.execute(db)
  await foldUntil(db, Date.parse('2026-02-28T00:00:00Z'))
  await setTime('2026-02-28T00:30:00Z')
}

const path = () => `/api/admin/org/${api.eng.org}/usage`
const get = (query: string, accept = 'application/json', token = admin) =>
  api.ask('GET', `${path()}${query}`, { headers: { accept, authorization: `Bearer ${token}` } })

interface Usage {
  readonly by: string
  readonly period: readonly Readonly<Record<string, number | string | boolean>>[]
}
const read = async (query: string): Promise<Usage> => {
  const { status, text } = await get(query)
  assert.equal(status, 200, text)
  return JSON.parse(text) as Usage
}
const H = 3_600_000

test('by hour: hours that are over as they are stored, and this hour up to now', async () => {
  const { by, period } = await read('?from=2026-02-27T21:00:00Z&to=2026-03-01&by=hour')
  assert.equal(by, 'hour')
  const shown = period.map((each) => [
    each['from'],
    each['complete'],
    each['vmMilliseconds'],
    each['runningCpuMilliseconds'],
    each['memoryMBMilliseconds'],
    each['storageMBMilliseconds'],
  ])
  assert.deepEqual(shown, [
    ['2026-02-27T21:00:00.000Z', true, 0, 0, 0, 0],
    ['2026-02-27T22:00:00.000Z', true, H, H, 2048 * H, 10_240 * H],
    ['2026-02-27T23:00:00.000Z', true, H, 2 * H, 2048 * H, 11_264 * H],
    ['2026-02-28T00:00:00.000Z', false, H / 2, H / 2, 1024 * H, 5632 * H],
  ])
})

test('by day and by month the same is summed up, and the first and last period may be shorter', async () => {
  const days = await read('?from=2026-02-27&to=2026-03-01')
  assert.deepEqual(
    days.period.map((each) => [each['from'], each['vmMilliseconds'], each['complete']]),
    [
      ['2026-02-27T00:00:00.000Z', 2 * H, true],
      ['2026-02-28T00:00:00.000Z', H / 2, false],
    ],
  )
  const months = await read('?from=2026-02-27T23:00:00Z&to=2026-04-01&by=month')
  assert.deepEqual(
    months.period.map((each) => [each['from'], each['to'], each['runningVmMilliseconds']]),
    [['2026-02-27T23:00:00.000Z', '2026-03-01T00:00:00.000Z', 1.25 * H]],
  )
})

test('the same in XML, and as CSV by the columns of FOCUS', async () => {
  const root = readXml((await get('?from=2026-02-27&to=2026-02-28', XML)).text)
  const [period] = childrenByLocalName(root, 'Period')
  assert.equal(attribute(period, 'cpuMilliseconds'), String(4 * H))
  const { status, headers, text } = await get(
    '.csv?from=2026-02-27&to=2026-02-28',
    'text/csv;version=5.1',
  )
  assert.equal(status, 200, text)
  assert.match(String(headers['content-type']), /^text\/csv/)
  const [head = '', ...lines] = text.split('\r\n').slice(0, -1)
  assert.equal(
    head,
    'ChargePeriodStart,ChargePeriodEnd,SubAccountId,SubAccountName,ChargeCategory,ServiceCategory,ServiceName,SkuId,ChargeDescription,ConsumedQuantity,ConsumedUnit,x_Complete',
  )
  const quantities = lines.map((line) => {
    const cells = line.split(',')
    return cells.slice(-5).filter((_, at) => at !== 1 && at !== 4)
  })
  assert.deepEqual(
    lines.map((line) => line.split(',')[7]),
    ['vm', 'vm-running', 'vcpu', 'vcpu-running', 'memory', 'memory-running', 'storage'],
  )
  assert.equal(quantities.length, 7)
  assert.match(lines[0] ?? '', /,VMs that exist,2\.000000,VM-Hours,true$/)
  assert.match(
    lines[6] ?? '',
    /,"disks, snapshots and saved memory of VMs",21\.000000,GiB-Hours,true$/,
  )
})

test('skerry org usage prints a table, the periods as JSON, and CSV', async () => {
  const work = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token: admin }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  const run = (...words: readonly string[]) =>
    skerry('http://127.0.0.1:9', ['org', 'usage', ...words], { profiles })
  const range = ['--from', '2026-02-27', '--to', '2026-03-01']
  const { code, out, err } = await run(...range)
  assert.equal(code, 0, err)
  assert.match(
    out,
    /^FROM +VM H +RUNNING VM H +CPU H +MEMORY GIB H +STORAGE GIB H +TEMPLATE GIB H +ADDRESS H\n2026-02-27 +2\.00 +1\.50 +4\.00 +4\.00 +21\.00 +0\.00 +0\.00\n2026-02-28, so far +0\.50 /,
  )
  const json = JSON.parse((await run('eng', ...range, '--by', 'month', '--json')).out) as {
    readonly vmMilliseconds: number
  }[]
  assert.deepEqual(
    json.map(({ vmMilliseconds }) => vmMilliseconds),
    [2.5 * H],
  )
  const csv = await run(...range, '--csv')
  assert.match(csv.out, /^ChargePeriodStart,.*\r\n2026-02-27T00:00:00\.000Z,/)
  assert.equal((await run('--csv', '--json')).code, 2)
  assert.match((await run('--by', 'week')).err, /by must be one of hour, day, month/)
})

test('what is asked wrongly is refused with the reason', async () => {
  for (const [query, reason] of [
    ['?from=2026-02-28&to=2026-02-27', /from must be before to/],
    ['?from=2026-02-27T22:30:00Z', /from must be a day or a whole hour in UTC/],
    ['?to=yesterday', /to must be a day or a whole hour in UTC/],
    ['?from=2026-02-30', /from must be a day or a whole hour in UTC/],
    ['?by=week', /by must be one of hour, day, month/],
    ['?from=2020-01-01&to=2026-01-01&by=hour', /at most 1000 periods/],
  ] as const) {
    const { status, text } = await get(query)
    assert.equal(status, 400, query)
    assert.match(text, reason)
  }
})

test('authors and other organisations cannot read it', async () => {
  assert.equal((await get('', XML, api.eng.token)).status, 403)
  const other = await api.enter(api.ops.org, 'organisation administrator')
  const { status } = await get('', XML, other)
  assert.ok([403, 404].includes(status), String(status))
  const system = await api.enter(api.ops.org, 'system administrator')
  assert.equal((await get('', XML, system)).status, 200)
})

test('without parameters these are the days of this month, and a later end is the end of its month', () => {
  const now = new Date('2026-11-18T12:34:56Z')
  const shown = (requested: Parameters<typeof usageRangeOf>[0]) => {
    const { from, to, by } = usageRangeOf(requested, now)
    return [from.toISOString(), to.toISOString(), by]
  }
  assert.deepEqual(shown({}), ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z', 'day'])
  assert.deepEqual(shown({ from: '2026-09-15', by: 'month' }), [
    '2026-09-15T00:00:00.000Z',
    '2026-12-01T00:00:00.000Z',
    'month',
  ])
})

test('hours have six decimals, rounded half up, at any size', () => {
  const hours = (ms: bigint) => hoursOf(ms, { unit: 'VM-Hours' })
  assert.deepEqual([0n, 1n, 2n, 3_600_000n, 5_400_000n].map(hours), [
    '0.000000',
    '0.000000',
    '0.000001',
    '1.000000',
    '1.500000',
  ])
  assert.equal(
    hoursOf(3_600_000n * 1024n * 10n ** 12n, { unit: 'GiB-Hours' }),
    '1000000000000.000000',
  )
})
