// Random lives of VMs, templates and external addresses, compared with the model of what they use.
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { foldUsage, writeHour } from '../src/metering/fold-usage.ts'
import { usageColumns } from '../src/metering/sum-usage.ts'
import { DIGEST, type CloudDatabase } from './cloud-database.ts'
import { addEdge } from './edge-rows.ts'
import { chance, pick } from './fuzz-filter.ts'
import {
  foldUntil,
  isEqual,
  nothing,
  openClocked,
  setClock,
  startMetering,
  takeClock,
  UsageModel,
  type Sums,
  type UnitUse,
} from './usage-model.ts'

const HOUR_MS = 3_600_000
const MIB = 1_048_576
const IMAGE_BYTES = 700 * MIB + 1
const OTHER = 'b'.repeat(64)

interface Vm {
  readonly id: string
  status: string
  cpus: number
  memory: number
  disk: number
  snapshot: number
  taking: number
  saving: number
  deleted: boolean
  lost: boolean
}

const statuses = ['UNRESOLVED', 'RESOLVED', 'SUSPENDED', 'POWERED_ON', 'POWERED_OFF'] as const

const useOf = (vm: Vm): UnitUse =>
  vm.deleted || vm.lost
    ? nothing
    : {
        ...nothing,
        vm: 1,
        running: vm.status === 'POWERED_ON',
        cpus: vm.cpus,
        memory: vm.memory,
        storage:
          vm.disk +
          vm.snapshot +
          vm.taking +
          Math.max(vm.saving, vm.status === 'SUSPENDED' ? vm.memory : 0),
      }

interface Place {
  readonly org: OrgId
  readonly vapp: string
}

/** Two organisations, each with a vApp; the first has an edge gateway. */
async function addPlaces({ db, host }: CloudDatabase): Promise<{
  readonly places: readonly Place[]
  readonly gateway: string
}> {
  await db
    .insertInto('image')
    .values({ digest: OTHER, bytes: String(IMAGE_BYTES), virtual_mib: 64 })
    .execute()
  const places: Place[] = []
  let gateway = ''
  for (const name of ['one', 'two']) {
    const { rows } = await sql<{ org: OrgId; vdc: string; vapp: string }>`
      with o as (insert into org (name) values (${name}) returning id),
      d as (insert into vdc (org, name) select id, 'main' from o returning org, id)
      select org, id as vdc from d`.execute(db)
    const [{ org, vdc } = { org: '' as OrgId, vdc: '' }] = rows
    const vapp = await db
      .insertInto('vapp')
      .values({ org, vdc, name: 'app', owner: 'alice' })
      .returning('id')
      .executeTakeFirstOrThrow()
    places.push({ org, vapp: vapp.id })
    if (gateway === '') gateway = (await addEdge(db, { org, vdc, name, host })).edgeGateway
  }
  // The address that it was made with is not part of the model.
  await sql`select release_external_address(edge_gateway, number) from external_address where purpose = 'tenant'`.execute(
    db,
  )
  await sql`delete from usage_span`.execute(db)
  return { places, gateway }
}

export interface Compared {
  readonly changes: number
  readonly rolledBack: number
  readonly folds: number
  readonly rows: number
  /** Rows that differ from the model, or are missing in one of the two. */
  readonly differing: readonly string[]
  /** Rows that differ after every hour was summed up again. */
  readonly notRepeated: number
}

/** Lets random changes happen, the next `meanMs` later on average, and compares every hour with the model. */
export async function compareWithModel(
  cloud: CloudDatabase,
  { changes, seed, meanMs }: { readonly changes: number; readonly seed: number; meanMs: number },
): Promise<Compared> {
  const { places, gateway } = await addPlaces(cloud)
  await takeClock(cloud)
  const db = openClocked(cloud)
  try {
    const start = Date.parse('2026-01-31T22:00:00Z')
    await setClock(db, start)
    await startMetering(db, start)
    const life = new RandomLife(db, places, gateway, chance(seed), start)
    for (let n = 0; n < changes; n += 1) await life.step(meanMs)
    await life.end()
    return { changes, ...(await life.compare()) }
  } finally {
    await db.destroy()
  }
}

class Undone extends Error {}

class RandomLife {
  readonly #model = new UsageModel()
  readonly #vms: Vm[] = []
  readonly #templates: string[] = []
  readonly #addresses: { readonly id: string; readonly number: string }[] = []
  readonly #db
  readonly #places
  readonly #gateway
  readonly #draw
  #now: number
  #latest: number
  #made = 0
  #rolledBack = 0
  #folds = 0

  constructor(
    db: Kysely<CloudTables>,
    places: readonly Place[],
    gateway: string,
    draw: () => number,
    start: number,
  ) {
    this.#db = db
    this.#places = places
    this.#gateway = gateway
    this.#draw = draw
    this.#now = start
    this.#latest = start
    this.#model.until = start
  }

  readonly #below = (n: number): number => Math.floor(this.#draw() * n)

  async step(meanMs: number): Promise<void> {
    const luck = this.#draw()
    // Several changes in a millisecond, a clock that goes backwards, and pauses of hours.
    if (luck < 0.05) this.#now -= this.#below(3000)
    else if (luck < 0.9) this.#now += this.#below(2 * meanMs)
    else if (luck > 0.998) this.#now += this.#below(5 * HOUR_MS)
    this.#latest = Math.max(this.#latest, this.#now)
    await setClock(this.#db, this.#now)
    if (luck > 0.995) await this.#fold()
    await this.#change()
  }

  async #fold(): Promise<void> {
    this.#folds += await foldUsage(this.#db)
    const { until } = await this.#db
      .selectFrom('usage_folded')
      .select('until')
      .executeTakeFirstOrThrow()
    this.#model.until = until.getTime()
  }

  async #change(): Promise<void> {
    const kind = this.#below(100)
    const vm = this.#vms[this.#below(this.#vms.length)]
    if (vm === undefined || (kind < 5 && this.#vms.length < 60)) return this.#addVm()
    if (kind < 8) return this.#addOrDeleteTemplate()
    if (kind < 12) return this.#takeOrRelease()
    if (kind < 15) return this.#rollBack(vm)
    if (kind < 18) return this.#forget(vm)
    return this.#changeVm(vm, kind)
  }

  async #addVm(): Promise<void> {
    const { org, vapp } = pick(this.#draw, this.#places)
    const vm: Vm = {
      id: '',
      status: pick(this.#draw, statuses),
      cpus: 1 + this.#below(8),
      memory: 64 * (1 + this.#below(64)),
      disk: 1000 + this.#below(50_000),
      snapshot: 0,
      taking: 0,
      saving: 0,
      deleted: false,
      lost: false,
    }
    this.#made += 1
    const { rows } = await sql<{ id: string }>`
      insert into vm (org, vapp, name, image, status, cpus, memory_mib, disk_mib)
      values (${org}, ${vapp}, ${`vm-${this.#made}`}, ${DIGEST}, ${vm.status}, ${vm.cpus}, ${vm.memory}, ${vm.disk})
      returning id`.execute(this.#db)
    const made = { ...vm, id: rows[0]?.id ?? '' }
    this.#vms.push(made)
    this.#model.begin(made.id, org, this.#now, useOf(made))
  }

  /** Also what is not metered, and what is written as it was. */
  async #changeVm(vm: Vm, kind: number): Promise<void> {
    if (kind < 50) vm.status = pick(this.#draw, statuses)
    else if (kind < 56) vm.cpus = 1 + this.#below(8)
    else if (kind < 62) vm.memory = 64 * (1 + this.#below(64))
    else if (kind < 66) vm.disk += this.#below(1000)
    else if (kind < 70) vm.taking = vm.disk
    else if (kind < 74) [vm.snapshot, vm.taking] = [vm.taking, 0]
    else if (kind < 78) vm.saving = vm.saving === 0 ? vm.memory : 0
    else if (kind < 81) vm.lost = !vm.lost
    else if (kind < 84) vm.deleted = true
    await sql`update vm set status = ${vm.status}, cpus = ${vm.cpus}, memory_mib = ${vm.memory}, disk_mib = ${vm.disk},
      snapshot_mib = ${vm.snapshot}, taking_mib = ${vm.taking}, saving_mib = ${vm.saving},
      lost_reason = ${vm.lost ? 'LOST' : null}, deleted_at = case when ${vm.deleted} then clock_timestamp() end,
      fence = fence + 1, host_silent = not host_silent where id = ${vm.id}`.execute(this.#db)
    this.#model.change(vm.id, this.#now, useOf(vm))
    if (vm.deleted) this.#vms.splice(this.#vms.indexOf(vm), 1)
  }

  /** Its row is deleted, as an operator might. */
  async #forget(vm: Vm): Promise<void> {
    await sql`delete from vm where id = ${vm.id}`.execute(this.#db)
    this.#model.change(vm.id, this.#now, nothing)
    this.#vms.splice(this.#vms.indexOf(vm), 1)
  }

  async #rollBack(vm: Vm): Promise<void> {
    this.#rolledBack += 1
    const undone = this.#db.transaction().execute(async (tx) => {
      await sql`update vm set cpus = cpus + 1, status = 'POWERED_ON' where id = ${vm.id}`.execute(
        tx,
      )
      await sql`delete from template`.execute(tx)
      throw new Undone()
    })
    await undone.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
  }

  async #addOrDeleteTemplate(): Promise<void> {
    if (this.#draw() < 0.5) {
      const { org } = pick(this.#draw, this.#places)
      this.#made += 1
      const image = this.#draw() < 0.5 ? DIGEST : OTHER
      const { rows } = await sql<{ id: string }>`
        insert into template (org, name, image, cpus, memory_mib, disk_mib)
        values (${org}, ${`template-${this.#made}`}, ${image}, 1, 64, 64) returning id`.execute(
        this.#db,
      )
      const id = rows[0]?.id ?? ''
      this.#templates.push(id)
      const template = image === OTHER ? Math.ceil(IMAGE_BYTES / MIB) : 1
      this.#model.begin(id, org, this.#now, { ...nothing, template })
      return
    }
    const id = this.#templates.pop()
    if (id === undefined) return
    await sql`delete from template where id = ${id}`.execute(this.#db)
    this.#model.change(id, this.#now, nothing)
  }

  async #takeOrRelease(): Promise<void> {
    if (this.#draw() < 0.5 && this.#addresses.length < 100) {
      const { rows } = await sql<{ number: string }>`
        with taken as (select address from take_external_address(${this.#gateway}, null))
        select (inet(address) - inet '0.0.0.0')::text as number from taken`.execute(this.#db)
      this.#made += 1
      const number = rows[0]?.number ?? ''
      const id = `address ${this.#made}`
      this.#addresses.push({ id, number })
      const org = this.#places[0]?.org as OrgId
      this.#model.begin(id, org, this.#now, { ...nothing, address: 1 })
      return
    }
    const taken = this.#addresses.shift()
    if (!taken) return
    await sql`select release_external_address(${this.#gateway}, ${taken.number}::bigint)`.execute(
      this.#db,
    )
    this.#model.change(taken.id, this.#now, nothing)
  }

  /** Ends with the hour. Nothing changes any more, and what is there is metered up to the end. */
  async end(): Promise<void> {
    const end = (Math.floor(this.#latest / HOUR_MS) + 1) * HOUR_MS
    this.#now = end + 2 * 60_000
    await setClock(this.#db, this.#now)
    this.#folds += await foldUntil(this.#db, end)
    this.#model.until = end
    this.#model.endAll(end)
  }

  async compare(): Promise<Omit<Compared, 'changes'>> {
    const hours = await this.#readHours()
    const differing = [...new Set([...hours.keys(), ...this.#model.hours.keys()])].filter(
      (key) => !isEqual(hours.get(key), this.#model.hours.get(key)),
    )
    const times = new Set([...hours.keys()].map((key) => key.slice(-24)))
    for (const hour of times) {
      await this.#db.transaction().execute((tx) => writeHour(tx, new Date(hour)))
    }
    const again = await this.#readHours()
    const notRepeated =
      [...again.keys()].filter((key) => !isEqual(hours.get(key), again.get(key))).length +
      (hours.size - again.size)
    return {
      rolledBack: this.#rolledBack,
      folds: this.#folds,
      rows: hours.size,
      differing,
      notRepeated,
    }
  }

  async #readHours(): Promise<ReadonlyMap<string, Sums>> {
    const rows = await this.#db.selectFrom('usage_hour').selectAll().execute()
    return new Map(
      rows.map((row) => [
        `${row.org} ${row.hour.toISOString()}`,
        Object.fromEntries(usageColumns.map((name) => [name, BigInt(row[name])])) as Sums,
      ]),
    )
  }
}
