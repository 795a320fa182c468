// Goal: a database restored from a dump loses no VM and repeats nothing. Method: a small cloud with two cells, real Postgres and
// Temporal, two simulated hosts; a dump while a task runs, an hour's worth of changes in small, the dump restored by the lines of
// docs/guides/restore.md, cells started again. The restore is not declared: the hosts reveal it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot, reasonWithoutTemporal, until } from '@skerry/lab'
import type { HostId, VmId } from '@skerry/vm'
import { attribute } from '@skerry/xml'

import { adoptVm } from '../../apps/cloud/src/hosts/adopt.ts'
import type { RecoveryStatus } from '../../apps/cloud/src/recovery/recovery-status.ts'
import { taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { anHourPasses, backUp, restore } from './restore-page.ts'
import { make, power, remove } from './vapps.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const SKERRY = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const RECOVERED_MS = 60_000

type SmallHost = SmallCloud['hosts'][number]

const hostWith = ({ hosts }: SmallCloud, vm: VmId) =>
  hosts.find((host) => host.find(vm) !== undefined)

/** Steps at a host with this VM wait until they are released. */
function hold(host: SmallHost): { readonly requested: Promise<void>; readonly goOn: () => void } {
  const [requested, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const step = host.step.bind(host)
  host.step = async (...order) => {
    requested.resolve()
    await go.promise
    return step(...order)
  }
  return { requested: requested.promise, goOn: go.resolve }
}

/** A host that does not report its VMs before it is released. */
function silence(host: SmallHost): () => void {
  const spoken = Promise.withResolvers<void>()
  const records = host.records.bind(host)
  host.records = async function* records_(signal) {
    await spoken.promise
    yield* records(signal)
  }
  return spoken.resolve
}

/** Each VM as its host has it, with the boot of its QEMU. */
const onHosts = (cloud: SmallCloud, vms: readonly VmId[]) =>
  vms.map((vm) => {
    const found = hostWith(cloud, vm)?.find(vm)
    return found ? [found.power, found.boot] : 'gone'
  })

const doneAt = ({ hosts }: SmallCloud) => hosts.flatMap(({ done }) => done)

/** `skerry admin recovery info`, on the machine of the first cell. */
async function status({ cells }: SmallCloud): Promise<RecoveryStatus> {
  const config = cells[0]?.log.replace(/log$/, 'config') ?? ''
  const words = ['admin', 'recovery', 'info', '--json', '--config', config]
  const { stdout } = await promisify(execFile)(SKERRY, words)
  return JSON.parse(stdout) as RecoveryStatus
}

async function shown({ db }: SmallCloud, vm: VmId) {
  const row = await db.selectFrom('vm').selectAll().where('id', '=', vm).executeTakeFirstOrThrow()
  return row.deleted_at === null ? [row.displayed_status, row.desired_power] : 'deleted'
}

test(
  'a dump is restored: nothing is executed again, every VM is accounted for, and all continues',
  { skip },
  async (t) => {
    await using cloud = await startSmallCloud({ cells: 2, hosts: 2 })
    await untilOpen(cloud.db, 2)
    const client = await cloud.logIn()
    const stays = await make(client, 'stays')
    const stopped = await make(client, 'stopped')
    const busy = await make(client, 'busy')
    const deleted = await make(client, 'deleted', false)
    const lost = await make(client, 'lost', false)

    const busyHost = hostWith(cloud, busy.vm)
    assert.ok(busyHost)
    const held = hold(busyHost)
    const requested = await client.ask('POST', `${busy.vapp}/power/action/powerOff`)
    await held.requested
    const kept = {
      database: cloud.postgres.urlOf('cloud'),
      dump: join(cloud.postgres.dir, 'cloud.dump'),
    }
    await backUp(kept)
    await anHourPasses(cloud.db)
    held.goOn()

    assert.equal(attribute(await client.ended(taskOf(requested.root)), 'status'), 'success')
    await power(client, busy, 'On')
    await power(client, stopped, 'Off')
    await remove(client, deleted)
    const grown = await make(client, 'grown')
    hostWith(cloud, lost.vm)?.vanish(lost.vm)
    const vms = [stays, stopped, busy, deleted, lost, grown].map(({ vm }) => vm)
    const [before, done] = [onHosts(cloud, vms), doneAt(cloud)]

    for (const cell of cloud.cells) await cell.kill9()
    await restore(kept)
    const silent = cloud.hosts[1]
    assert.ok(silent)
    const speak = silence(silent)
    const began = performance.now()
    const since = () => `${Math.round(performance.now() - began)} ms after the cells were started`
    for (const cell of cloud.cells) await cell.start()
    const isRead = async () => {
      const { recovering, hosts } = await status(cloud)
      return recovering && hosts.some(({ is }) => is === 'read')
    }
    await until('one host was read', isRead, RECOVERED_MS)
    t.diagnostic(`recovering, one host read: ${since()}`)
    const waited = (await status(cloud)).hosts.filter(({ is }) => is === 'waited for')
    assert.deepEqual(
      waited.map(({ id }) => id),
      [silent.id],
    )
    const refused = await client.ask('POST', `${stays.vapp}/power/action/powerOff`)
    assert.equal(refused.status, 503, refused.text)
    assert.match(refused.text, /restored from a backup/)
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await client.instantiate('never')).status, 503)
    assert.equal((await client.ask('GET', stays.vapp)).status, 200, 'reading goes on')

    speak()
    const isOver = async () => !(await status(cloud)).recovering
    await until('the cloud has recovered', isOver, RECOVERED_MS)
    t.diagnostic(`recovered: ${since()}`)
    assert.deepEqual((await status(cloud)).found, {
      'vm.relived': 0,
      'vm.deleted': 1,
      'vm.unmade': 0,
      'vm.missing': 1,
      'undo.dropped': 0,
      'vm.orphaned': 1,
    })
    await untilOpen(cloud.db, 2)
    t.diagnostic(`all hosts are open: ${since()}`)
    assert.deepEqual(await shown(cloud, stays.vm), ['POWERED_ON', 'POWERED_ON'])
    assert.deepEqual(await shown(cloud, stopped.vm), ['POWERED_OFF', 'POWERED_OFF'])
    assert.deepEqual(await shown(cloud, busy.vm), ['POWERED_ON', 'POWERED_ON'])
    assert.equal(await shown(cloud, deleted.vm), 'deleted')
    assert.equal((await shown(cloud, lost.vm))[0], 'MISSING')
    const ended = await client.get(taskOf(requested.root))
    assert.equal(attribute(ended, 'status'), 'error')
    assert.match((await client.ask('GET', taskOf(requested.root))).text, /try again/)
    const orphans = await cloud.db.selectFrom('orphan').select('vm').execute()
    assert.deepEqual(orphans, [{ vm: grown.vm }], 'proposed for adoption')
    assert.deepEqual(onHosts(cloud, vms), before, 'no guest was changed')
    assert.deepEqual(doneAt(cloud), done, 'nothing was executed again')

    const connect = ({ id }: { readonly id: HostId }) =>
      cloud.hosts.find((host) => host.id === id) as SmallHost
    await adoptVm({ db: cloud.db, connect }, { vm: grown.vm })
    assert.deepEqual(onHosts(cloud, vms), before, 'adopted unchanged')
    const again = await cloud.logIn(1)
    for (const each of [grown, stays, busy]) await power(again, each, 'Off')
    await power(again, stopped, 'On')
    for (const each of [grown, lost]) await remove(again, each)
    await make(again, 'after')
    assert.deepEqual(
      onHosts(cloud, vms).map((each) => each[0]),
      ['off', 'on', 'off', 'g', 'g', 'g'],
    )
  },
)
