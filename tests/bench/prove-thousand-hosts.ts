// A thousand hosts with fifty VMs each, followed by two cells; then many of them become silent and come back. The hosts are
// simulated: rules, orders, sessions and the host API over mTLS are real, there is no libvirt below.
// Usage: node tests/bench/prove-thousand-hosts.ts [--hosts 1000] [--vms 50] [--lost 200] [--cells 2] [--steady 60]
// Prints one line of JSON; fails if the reported state is not correct within a minute.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { requirePrograms, startLab, until, type LabCloud } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import type { HostId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { actingAs } from '../../apps/cloud/src/database/acting-as.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { addInvitation } from '../../apps/cloud/src/identity/invitations.ts'
import { startHostProcess, type HostProcess } from './host-processes.ts'
import { processorSeconds, serverSeconds } from './processor.ts'
import type { Planned } from './simulated-hosts.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '1000' },
    vms: { type: 'string', default: '50' },
    lost: { type: 'string', default: '200' },
    cells: { type: 'string', default: '2' },
    steady: { type: 'string', default: '60' },
  },
})
const [hosts, vms, lost, cells, steadySeconds] = [
  values.hosts,
  values.vms,
  values.lost,
  values.cells,
  values.steady,
].map(Number) as [number, number, number, number, number]
/** Hosts in one process. */
const TOGETHER = 200
/** The reported state must be correct after this. */
const TRUTH_MS = 60_000
const PATIENCE_MS = 900_000
const LOOK_MS = 250

requirePrograms('cloud')
await using dir = await mkdtempDisposable(join(tmpdir(), 'thousand-'))
await using lab = await startLab({ dir: join(dir.path, 'lab'), hosts: 0, cells })
const cloud = lab.cloud as LabCloud
await using stack = new AsyncDisposableStack()
const db = openDatabase<CloudTables>({
  url: actingAs(cloud.postgres.urlOf('cloud'), 'skerry_system'),
  applicationName: 'proof',
  statementTimeoutMs: 300_000,
})
stack.defer(() => db.destroy())

const planned = Array.from({ length: hosts }, (_, number) => plan(number))
/** The first process has the hosts that are lost. */
const groups = [planned.slice(0, lost), ...chunks(planned.slice(lost), TOGETHER)]
const processes = groups.map(() => stack.use(startHostProcess(lab.netns)))

const seconds: Record<string, number> = {}
let unseenElsewhere = 0
const ids = await noting('join', joinAll)
await noting('rows', seed)
await noting('lists', async () => {
  await Promise.all(processes.map((each) => each.send({ do: 'serve' })))
  await until('all lists are read', async () => (await openHosts()) === hosts, PATIENCE_MS)
  await showsTruth(hosts * runningOn(vms), PATIENCE_MS)
})
const steady = await measureSteady()
const [silent] = processes as [HostProcess]
await noting('unknown', async () => {
  silent.fallSilent()
  await until(
    'all VMs of the lost hosts are UNKNOWN',
    async () => (await unseen()) === lost * vms,
    TRUTH_MS,
  )
})
const during = await measureSteady(10)
const started = planned.slice(0, lost).flatMap((host) => host.vms.slice(1, 2).map(({ id }) => id))
await noting('back', async () => {
  const sent = silent.send({ do: 'start', vms: started })
  silent.wake()
  await sent
  await showsTruth(hosts * runningOn(vms) + started.length, TRUTH_MS)
})
if (unseenElsewhere > 0) throw new Error(`${unseenElsewhere} VMs of other hosts were UNKNOWN too`)
console.log(
  JSON.stringify({
    proof: 'thousand-hosts',
    simulated: true,
    hosts,
    vms: hosts * vms,
    cells,
    lost,
    seconds,
    steady,
    whileLost: during,
    loadAverage: loadavg()[0],
  }),
)

/** Each at its own address in 127.1.0.0/16, so that all may have the same port. Every other VM runs. */
function plan(number: number): Planned {
  const name = `host-${number + 1}`
  return {
    name,
    directory: join(dir.path, name),
    token: randomBytes(32).toString('base64url'),
    address: `127.1.${number >> 8}.${number & 255}`,
    port: 8443,
    vms: Array.from({ length: vms }, (_, at) => ({
      id: randomUUID() as VmId,
      power: at % 2 === 0 ? ('on' as const) : ('off' as const),
    })),
  }
}

function runningOn(count: number): number {
  return Math.ceil(count / 2)
}

/** Invited by rows, because a process for each would be most of the work; joined by the real join. */
async function joinAll(): Promise<Readonly<Record<string, HostId>>> {
  const { fingerprint } = (await cloud.administer(['host', 'invite'])) as { fingerprint: string }
  for (const { token } of planned) await addInvitation(db, token, undefined)
  // The first cell has the issuer keys.
  const cell = `https://${machinesOf(1)}`
  const answers = await Promise.all(
    processes.map((each, at) =>
      each.send<Record<string, HostId>>({ do: 'join', hosts: groups[at] ?? [], cell, fingerprint }),
    ),
  )
  return Object.assign({}, ...answers) as Readonly<Record<string, HostId>>
}

function machinesOf(cell: number): string {
  const text = readFileSync(join(lab.dir, `cell-${cell}`, 'cloud.json'), 'utf8')
  const { machines } = JSON.parse(text) as { machines: { address: string; port: number } }
  return `${machines.address}:${machines.port}`
}

/** A vApp for each host with its VMs, all recorded as off with desired power off, so that none is started. */
async function seed(): Promise<void> {
  for (const some of chunks(planned, 50)) {
    const rows = some.flatMap(({ name, vms: each }) =>
      each.map(({ id }, at) => ({ id, vapp: name, name: `vm-${at}`, host: ids[name] })),
    )
    await db.transaction().execute(async (tx) => {
      await sql`insert into vapp (org, vdc, name, owner)
        select org, vdc.id, vapp, 'proof' from (select distinct vapp from ${rowsOf(rows)}) made,
          (select vdc.* from vdc join org on org.id = vdc.org where org.name = ${cloud.tenants[0]?.org}) vdc`.execute(
        tx,
      )
      await sql`insert into vm (org, id, vapp, name, image, cpus, memory_mib, disk_mib, host, incarnation, ever_started, status)
        select vapp.org, made.id, vapp.id, made.name, image.digest, 1, 64, 64, made.host, 1, true, 'POWERED_OFF'
        from ${rowsOf(rows)} join vapp on vapp.name = made.vapp, (select digest from image limit 1) image`.execute(
        tx,
      )
    })
  }
  await sql`analyze vm`.execute(db).catch(() => undefined)
}

function rowsOf(rows: readonly object[]) {
  const text = JSON.stringify(rows)
  return sql`jsonb_to_recordset(${text}::jsonb) as made(id uuid, vapp text, name text, host uuid)`
}

async function openHosts(): Promise<number> {
  await sleep(LOOK_MS)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from host
    where list_session = session and session > 0 and follow_until > clock_timestamp()`.execute(db)
  return rows[0]?.count ?? 0
}

/** The number of VMs of the lost hosts that are UNKNOWN; those of other hosts are recorded. */
async function unseen(): Promise<number> {
  await sleep(LOOK_MS)
  const gone = planned.slice(0, lost).map(({ name }) => ids[name] as HostId)
  const { rows } = await sql<{ gone: number; other: number }>`
    select (count(*) filter (where host = any(${gone})))::integer as gone,
      (count(*) filter (where host <> all(${gone})))::integer as other
    from vm where displayed_status = 'UNKNOWN' and deleted_at is null`.execute(db)
  unseenElsewhere = Math.max(unseenElsewhere, rows[0]?.other ?? 0)
  return rows[0]?.gone ?? 0
}

async function showsTruth(running: number, withinMs: number): Promise<void> {
  const all = async () => {
    if ((await unseen()) > 0) return false
    const { rows } = await sql<{
      displayed_status: string
      count: number
    }>`select displayed_status, count(*)::integer as count
      from vm where deleted_at is null group by displayed_status`.execute(db)
    const of = (status: string) =>
      rows.find(({ displayed_status: shown }) => shown === status)?.count ?? 0
    return of('POWERED_ON') === running && of('POWERED_OFF') === hosts * vms - running
  }
  await until(`${running} of ${hosts * vms} VMs are shown running`, all, withinMs)
}

/** The cost of following them all while nothing happens, per second. */
async function measureSteady(during = steadySeconds) {
  const spent = () => ({
    cells: cloud.cells.map(({ pid = 0 }) => processorSeconds(pid)),
    postgres: serverSeconds(cloud.postgres.pid),
    hosts: processes.reduce((sum, { pid }) => sum + processorSeconds(pid), 0),
  })
  const written = async () => {
    const { rows } = await sql<{
      commits: number
      rows: number
    }>`select xact_commit::integer as commits,
      (tup_inserted + tup_updated)::integer as rows from pg_stat_database where datname = 'cloud'`.execute(
      db,
    )
    return rows[0] ?? { commits: 0, rows: 0 }
  }
  const [before, wrote] = [spent(), await written()]
  await sleep(during * 1000)
  const [after, written2] = [spent(), await written()]
  const percent = (from: number, to: number) => Math.round(((to - from) / during) * 1000) / 10
  return {
    seconds: during,
    cells: cloud.cells.map(({ pid = 0 }, at) => ({
      processorPercent: percent(before.cells[at] ?? 0, after.cells[at] ?? 0),
      memoryMiB: memoryMiB(pid),
    })),
    postgres: {
      processorPercent: percent(before.postgres, after.postgres),
      commitsPerSecond: Math.round((written2.commits - wrote.commits) / during),
      rowsWrittenPerSecond: Math.round((written2.rows - wrote.rows) / during),
    },
    hostsProcessorPercent: percent(before.hosts, after.hosts),
  }
}

function memoryMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kib) / 1024)
}

async function noting<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const answer = await work()
  seconds[what] = Math.round((performance.now() - begun) / 100) / 10
  console.error(`${what}: ${seconds[what]} s`)
  return answer
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size))
}
