// Inspects a host from outside, without vmd, for leftovers of the cloud that no row describes, and for rows without their VM.
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import type { LabHost } from '@skerry/lab'

import { readDomains, type DomainSeen } from '../domains.ts'
import { imageFaults, layersOf } from '../images.ts'

/** A VM as in Postgres, of those placed on this host. */
export interface Placed {
  readonly id: string
  readonly incarnation: string
  readonly fence: string
  readonly status: string
}

/** Violations on a host on which exactly these VMs are placed. */
export async function cloudLeftovers(host: LabHost, placed: readonly Placed[]): Promise<string[]> {
  const domains = await readDomains(host)
  const of = new Map(placed.map((vm) => [`cloud-${vm.id}`, vm]))
  const strangers = domains
    .filter(({ name }) => !of.has(name))
    .map(({ name }) => `domain ${name} belongs to no VM here`)
  const each = await Promise.all(
    placed.map(async (vm) => {
      const domain = domains.find(({ name }) => name === `cloud-${vm.id}`)
      if (!domain) return [`VM ${vm.id} has no domain`]
      return [
        ...wrongStatus(vm, domain),
        ...(await records(host, vm)),
        ...(await files(host, vm, domain)),
      ]
    }),
  )
  return [
    ...strangers,
    ...each.flat(),
    ...(await orphans(host, placed)),
    ...(await libvirtsOwn(host, domains)),
    ...(await imageFaults(host, domains)),
  ].map((line) => `${host.name}: ${line}`)
}

const at = (host: LabHost, path: string): string => `/proc/${host.init}/root${path}`
const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => [])
const CLOUD = '/var/lib/skerry/cloud'

function wrongStatus({ id, status }: Placed, { isRunning, isSaved }: DomainSeen): string[] {
  const is = isRunning ? 'POWERED_ON' : isSaved ? 'SUSPENDED' : 'POWERED_OFF'
  return is === status ? [] : [`VM ${id} is recorded as ${status}, libvirt has it ${is}`]
}

interface Kept {
  readonly phase?: string
  readonly incarnation?: string
  readonly underWay?: unknown
  readonly highest?: string
  readonly begun?: readonly string[]
  readonly gone?: string
}

async function json(file: string): Promise<Kept> {
  return JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Kept
}

/** vmd's own files: the VM's record, and its ledger. */
async function records(host: LabHost, { id, incarnation, fence }: Placed): Promise<string[]> {
  const vm = await json(at(host, `${CLOUD}/vms/${id}.json`))
  const order = await json(at(host, `${CLOUD}/orders/${id}.json`))
  const found: string[] = []
  if (vm.phase !== 'there') found.push(`VM ${id} is recorded as ${vm.phase ?? 'nothing'}`)
  if (vm.underWay) found.push(`VM ${id} is in the middle of ${JSON.stringify(vm.underWay)}`)
  for (const [book, { incarnation: life }] of Object.entries({ vm, order })) {
    if (life !== incarnation) found.push(`VM ${id}: ${book} has life ${life}, not ${incarnation}`)
  }
  if (order.gone !== undefined) found.push(`VM ${id} has a tombstone`)
  if (BigInt(order.highest ?? 0) > BigInt(fence)) {
    found.push(`VM ${id} was given ${order.highest}, the cloud knows ${fence}`)
  }
  return found
}

/** Only the layers of the chain in use, and their files. */
async function files(host: LabHost, { id, incarnation }: Placed, { disk }: DomainSeen) {
  const directory = at(host, `${CLOUD}/vms/${id}.vm`)
  const layers = (await layersOf(host, disk)).map((file) => basename(file))
  const known = new Set([...layers, 'seed.img', 'serial.log', 'opened'])
  const lives = await namesIn(directory)
  const others = lives.filter((life) => life !== incarnation).map((life) => `${id}.vm/${life}`)
  const inside = await namesIn(join(directory, incarnation))
  const more = inside.filter((name) => !known.has(name)).map((name) => `${id}.vm/…/${name}`)
  return [...others, ...more]
}

/** Records and directories of VMs that are not here, incomplete images, processes without an owner. */
async function orphans(host: LabHost, placed: readonly Placed[]): Promise<string[]> {
  const ids = new Set(placed.map(({ id }) => id))
  const vms = (await namesIn(at(host, `${CLOUD}/vms`)))
    .filter((name) => !ids.has(name.replace(/\.(json|vm)$/, '')))
    .map((name) => `${CLOUD}/vms/${name} belongs to no VM here`)
  const images = (await namesIn(at(host, `${CLOUD}/images`)))
    .filter((name) => !/^[0-9a-f]{64}\.qcow2$/.test(name))
    .map((name) => `${CLOUD}/images/${name}`)
  const half = await Promise.all(
    (await namesIn(at(host, `${CLOUD}/orders`)))
      .filter((name) => name !== 'highest.json' && !ids.has(name.replace(/\.json$/, '')))
      .map(async (name) => ({ name, ...(await json(at(host, `${CLOUD}/orders/${name}`))) })),
  )
  const unburied = half
    .filter(({ gone }) => gone === undefined)
    .map(({ name }) => `orders/${name} belongs to no VM here and has no tombstone`)
  return [...vms, ...images, ...unburied]
}

/** QEMU and saved memory only for the domains that have them. */
async function libvirtsOwn(host: LabHost, domains: readonly DomainSeen[]): Promise<string[]> {
  const saves = (await namesIn(at(host, '/var/lib/libvirt/qemu/save')))
    .filter((name) => !domains.some((each) => each.isSaved && name === `${each.name}.save`))
    .map((name) => `save/${name}`)
  const { stdout } = await host.run(['ps', '-ww', '-eo', 'stat=,args='])
  const running = domains.filter(({ isRunning }) => isRunning)
  const processes = stdout
    .split('\n')
    .filter((line) => !line.startsWith('Z'))
    .flatMap((line) => /qemu-system-\S+ -name guest=([^,\s]+)/.exec(line)?.[1] ?? [])
  const qemus = processes
    .filter((name) => !running.some((each) => each.name === name))
    .map((name) => `a QEMU of ${name}, which does not run`)
  const twice = processes.filter((name, place) => processes.indexOf(name) !== place)
  return [...saves, ...qemus, ...twice.map((name) => `two QEMUs of ${name}`)]
}
