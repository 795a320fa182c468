// vmd is killed repeatedly during any operation of its clients, with a reader of its events and VMs whose settings are all
// compared after each start.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { guestImage, until, type LabHost } from '@skerry/lab'

import { BASE, curlOn } from '../accept/curl.ts'
import { EventReader } from '../accept/event-reader.ts'
import { assertNoGap, assertRanThrough, assertTold } from './assert-events.ts'
import { assertInOrder, killDriven, runStorm, type Scene, type StormFigures } from './storm.ts'
import { VmdClient, type Answered } from './vmd-client.ts'
import { vmdRounds } from './vmd-errands.ts'

export interface KillVmdOptions {
  readonly seed: number
  readonly kills: number
  readonly errands: number
  readonly guests: number
  readonly lanes: number
  readonly say?: (line: string) => void
}

export interface KillVmdFigures extends StormFigures {
  readonly events: number
  readonly answered: number
}

const KEPT = 'kept'
const SLEEPER = 'sleeper'
const FORWARDED = 22_000

/** Runs it all; throws on any violated invariant. */
export async function runKillVmd(options: KillVmdOptions): Promise<KillVmdFigures> {
  const answered: Answered[] = []
  let events = 0
  let place: Place | undefined
  const there = (): Place => {
    assert.ok(place, 'the host was prepared')
    return place
  }
  let empty: string | undefined
  const figures = await runStorm<VmdClient>({
    ...options,
    more: vmdRounds(await guestImage('small')),
    async start(host) {
      await host.startVmd()
      empty ??= await standing(host)
      return new VmdClient(host, answered)
    },
    async prepare(scene, guests) {
      const reader = scene.stack.use(new EventReader(scene.host, 0))
      const operation = await makeWitnesses(scene, guests)
      const known = () => readKnown(scene, guests, operation)
      place = { guests, reader, known, before: await known() }
      return [KEPT, SLEEPER]
    },
    async kill(scene, chance) {
      await killDriven(scene, chance)
      assert.deepEqual(await there().known(), there().before, 'its state is complete')
    },
    async conclude({ host, engine }) {
      const { guests, reader } = there()
      const vmd = await engine
      for (const id of [...guests, KEPT, SLEEPER]) await vmd.deleteVm(id)
      await vmd.deleteTemplate('default')
      await assertInOrder(host, [])
      let left = ''
      // vmd closes the ports of a deleted VM when it hears of the change, which may be after its answer.
      const isAsBefore = async () => (left = await standing(host)) === empty
      await until('nothing is left', isAsBefore).catch(() => undefined)
      assert.equal(left, empty, 'the host is as it was before the first VM')
      await reader.untilSeen('the end', ({ type, vm }) => type === 'vm.deleted' && vm === SLEEPER)
      assertNoGap(reader.seen)
      assertTold(answered, reader.seen)
      assertRanThrough(guests, reader.seen)
      events = reader.seen.length
    },
  })
  return { ...figures, events, answered: answered.length }
}

interface Place {
  readonly guests: readonly string[]
  readonly reader: EventReader
  readonly known: () => Promise<unknown>
  readonly before: unknown
}

/** VMs that no client changes, with every kind of data that vmd stores; returns the id of the operation that created one. */
async function makeWitnesses(scene: Scene<VmdClient>, guests: readonly string[]): Promise<string> {
  const { host } = scene
  const vmd = await scene.engine
  const { curl } = curlOn(() => host)
  const requested = { id: KEPT, name: 'Kept', tag: 'red', cpus: 2, memoryMiB: 128, autostart: true }
  const prefer = ['-H', 'Prefer: respond-async', '-d', JSON.stringify(requested)]
  const { id } = (await vmd.ask(curl(...prefer, `${BASE}/api/vms`))) as { id: string }
  await until('the operation ends', async () => {
    const { state } = (await vmd.read(`/api/operations/${id}`)) as { state: string }
    return state === 'succeeded'
  })
  const folder = join(host.dir, 'kept-folder')
  await mkdir(folder)
  await vmd.enableSharing(KEPT)
  await vmd.addFolder(KEPT, { guestPath: 'docs', hostPath: folder, flags: 0 })
  await vmd.createSnapshot(KEPT, { name: 'first', memory: false })
  for (const [number, vm] of [KEPT, ...guests].entries())
    await vmd.addForward(vm, { hostPort: FORWARDED + number, guestPort: 22 })
  await vmd.createVm({ id: SLEEPER, memoryMiB: 64 })
  await vmd.changePower(SLEEPER, 'on')
  await vmd.changePower(SLEEPER, 'suspend')
  for (const guest of guests) await vmd.read(`/api/vms/${guest}/ipaddress?wait=60`)
  return id
}

/** What vmd reports of the unchanged VMs, and the constant values of each guest. */
async function readKnown(
  { host, engine }: Scene<VmdClient>,
  guests: readonly string[],
  operation: string,
): Promise<unknown> {
  const vmd = await engine
  const witnesses = [KEPT, SLEEPER].map((id) =>
    Promise.all([
      vmd.read(`/api/vms?view=full&id=${id}`),
      vmd.read(`/api/vms/${id}/snapshots`),
      vmd.read(`/api/vms/${id}/folders`),
      vmd.read(`/api/vms/${id}/forwards`),
    ]),
  )
  const running = guests.map(async (id) => {
    const [row] = (await vmd.read(`/api/vms?view=full&id=${id}`)) as Record<string, unknown>[]
    const { stdout: qemu } = await host.run(['cat', `/run/libvirt/qemu/local-${id}.pid`])
    const { name, tag, address, boot, memoryMiB } = row ?? {}
    const forwards = (await vmd.read(`/api/vms/${id}/forwards`)) as { hostPort: number }[]
    return {
      id,
      name,
      tag,
      address,
      boot,
      memoryMiB,
      qemu: qemu.trim(),
      forwards: forwards.filter(({ hostPort }) => hostPort >= FORWARDED),
    }
  })
  const templates = (await vmd.listTemplates()).filter(({ name }) => name === 'default')
  return {
    templates,
    operation: await vmd.read(`/api/operations/${operation}`),
    docs: await vmd.read(`/api/vms/${KEPT}/folders/docs`),
    witnesses: await Promise.all(witnesses),
    running: await Promise.all(running),
  }
}

/** Our state on the host other than files: listening sockets, firewall rules, mounts. */
async function standing(host: LabHost): Promise<string> {
  const scripts = [
    'iptables -S',
    'ip6tables -S',
    "ss -Hltn | awk '{ print $4 }' | sort",
    "awk '$5 ~ /^\\/run\\/skerry/ { print $5 }' /proc/self/mountinfo",
    'ls -A /var/lib/skerry/dhcp /var/lib/skerry/templates',
  ]
  const said = await Promise.all(scripts.map((script) => host.run(['bash', '-c', script])))
  return said.map(({ stdout }, at) => `# ${scripts[at]}\n${stdout}`).join('')
}
