// Runs on a lab host: our engine in this process, the baseline in a child, one libvirtd for both.
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import * as engine from '@skerry/engine'
import * as libvirt from '@skerry/libvirt'
import type { VmId } from '@skerry/vm'

import { domainXml } from '../../packages/engine/src/domain/domain-xml.ts'
// The same definition for both sides, however it is built: the API does not return it.
import type { DomainDefinition } from '../../packages/engine/src/host/definition.ts'
import { newRecord } from '../../packages/engine/src/host/record.ts'
import { startBare, type Bare } from './bare.ts'
import { compare, type Figure } from './figure.ts'

const LIBVIRT = { socket: '/run/libvirt/libvirt-sock', uri: 'qemu:///system' }
const CALLS = 1000
/** Concurrent calls on the one connection. */
const LANES = 16
const DOMAINS = 1000
const SCRATCH = '/var/lib/skerry/bare'

const [pairs, image] = [Number(process.argv[2]), process.argv[3] ?? '']
await using host = await engine.openHost({
  libvirt: LIBVIRT,
  clock: { now: () => new Date() },
  ids: { uuid: () => randomUUID() },
  log: (message, cause) => console.error(`note: ${message}`, cause ?? ''),
})
await using bare = startBare()
await mkdir(SCRATCH, { recursive: true })
const template = '/var/lib/skerry/templates/default.qcow2'
await engine.importTemplate(host, 'default', image)
await engine.createVm(host, { id: 'probe' })

const figures = [await calls(bare), await create(bare), await powerOn(bare), await list(bare)]
console.log(JSON.stringify(figures))

async function calls(bare: Bare): Promise<Figure> {
  await using connection = await libvirt.Connection.open(LIBVIRT)
  const { dom } = await connection.call(libvirt.domainLookupByName, { name: 'local-probe' })
  const ours = async () => {
    let left = CALLS
    const lane = async () => {
      while (left-- > 0) await connection.call(libvirt.domainGetState, { dom, flags: 0 })
    }
    const ms = await timed(() => Promise.all(Array.from({ length: LANES }, lane)))
    return (CALLS / ms) * 1000
  }
  return await compare(
    { name: 'client calls', unit: 'calls/s', atLeast: 1 },
    pairs,
    ours,
    async () => CALLS / (await bare.ask('calls', 'local-probe', CALLS)),
  )
}

async function create(bare: Bare): Promise<Figure> {
  let made = 0
  return compare(
    { name: 'create', unit: 'ms', atMost: 1.2 },
    pairs,
    async () => {
      const id = `new-${made++}`
      const ms = await timed(() => engine.createVm(host, { id }))
      await engine.deleteVm(host, id)
      return ms
    },
    async () => {
      const id = `bare-${made++}`
      const overlay = join(SCRATCH, `${id}.qcow2`)
      const seconds = await bare.ask('create', template, overlay, definitionOf(id, overlay))
      await bare.ask('undefine', `local-${id}`)
      await rm(overlay)
      return seconds * 1000
    },
  )
}

async function powerOn(bare: Bare): Promise<Figure> {
  return compare(
    { name: 'power on', unit: 'ms', atMost: 1.05 },
    pairs,
    async () => {
      const ms = await timed(() => engine.changePower(host, 'probe', 'on'))
      await bare.ask('destroy', 'local-probe')
      return ms
    },
    async () => {
      const seconds = await bare.ask('powerOn', 'local-probe')
      await bare.ask('destroy', 'local-probe')
      return seconds * 1000
    },
  )
}

async function list(bare: Bare): Promise<Figure> {
  const ids = Array.from({ length: DOMAINS - 1 }, (_, number) => `listed-${number}`)
  await Promise.all(ids.map(pretend))
  const name = `list of ${DOMAINS} domains`
  const waysToList = ['listOneByOne', 'listAtOnce'] as const
  const against = (way: (typeof waysToList)[number]) =>
    compare(
      { name, unit: 'ms', atMost: 1.5 },
      pairs,
      async () => {
        let count = 0
        const ms = await timed(async () => (count = (await engine.listVms(host)).length))
        requireAll(count)
        return ms
      },
      async () => {
        const { seconds, count } = await bare.ask<{ seconds: number; count: number }>(way)
        requireAll(count)
        return seconds * 1000
      },
    )
  // The baseline can do it in two ways; the faster one is compared.
  const figures = [await against('listOneByOne'), await against('listAtOnce')]
  return figures.reduce((best, figure) => (figure.bare < best.bare ? figure : best))
}

/** A VM that is recorded and defined, and has no disk: it is never started. */
async function pretend(id: string): Promise<void> {
  const record = newRecord({
    id: id as VmId,
    owner: 'local',
    incarnation: '1',
    uuid: randomUUID(),
    name: id,
    tag: '',
    createdAt: host.clock.now().toISOString(),
    requested: '',
    autostart: false,
  })
  await host.records.write({ ...record, phase: 'there' })
  const xml = definitionOf(id, join(SCRATCH, `${id}.qcow2`))
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 }, { timeoutMs: 300_000 })
}

function definitionOf(id: string, overlay: string): string {
  const definition: DomainDefinition = {
    id: id as VmId,
    owner: 'local' as const,
    incarnation: '1',
    uuid: randomUUID(),
    title: id,
    cpus: 1,
    memoryMiB: 512,
    nested: false,
    bridge: undefined,
    seed: undefined,
    mac: `52:${randomUUID().slice(0, 8).match(/../g)?.join(':')}:01`,
    layers: [overlay, template],
    serial: join(SCRATCH, `${id}.log`),
  }
  return domainXml(definition, host.hypervisor)
}

function requireAll(count: number): void {
  if (count !== DOMAINS) throw new Error(`expected ${DOMAINS} domains in the list, not ${count}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
