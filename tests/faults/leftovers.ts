// Inspects a host from outside, without the engine, for leftovers that belong to no VM.
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import type { LabHost } from '@skerry/lab'

import { readDomains, type DomainSeen } from './domains.ts'
import { imageFaults, layersOf, snapshotsIn } from './images.ts'

/** Everything on the host that should not exist when exactly these VMs do; empty if there is nothing. */
export async function leftovers(host: LabHost, ids: readonly string[]): Promise<string[]> {
  const domains = await readDomains(host)
  // First, while no tool of our own runs there.
  const strays = await processes(host, domains)
  const seen = new Map(domains.map((domain) => [domain.id, domain]))
  const strangers = domains
    .filter(({ id }) => !ids.includes(id))
    .map(({ name }) => `domain ${name}`)
  const missing = ids.filter((id) => !seen.has(id)).map((id) => `VM ${id} has no domain`)
  const found = await Promise.all([
    records(host, ids),
    ...ids.flatMap((id) => seen.get(id) ?? []).map((domain) => filesOf(host, domain)),
    templates(host),
    shares(host, seen),
    addresses(host, ids),
    libvirtsOwn(host, domains),
    imageFaults(host, domains),
  ])
  return [...strangers, ...missing, ...strays, ...found.flat()].sort()
}

/** A path of the host as this process sees it, including mounts. */
const at = (host: LabHost, path: string): string => `/proc/${host.init}/root${path}`

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => [])

async function records(host: LabHost, ids: readonly string[]): Promise<string[]> {
  const directory = at(host, '/var/lib/skerry/vms')
  const strays = (await namesIn(directory))
    .filter((name) => !ids.some((id) => name === `${id}.json` || name === `${id}.vm`))
    .map((name) => `/var/lib/skerry/vms/${name}`)
  const halves = await Promise.all(
    ids.map(async (id) => {
      const text = await readFile(join(directory, `${id}.json`), 'utf8').catch(() => '{}')
      const { phase, underWay } = JSON.parse(text) as { phase?: string; underWay?: unknown }
      if (phase !== 'there') return [`VM ${id} is recorded as ${phase ?? 'nothing'}`]
      return underWay ? [`VM ${id} is in the middle of ${JSON.stringify(underWay)}`] : []
    }),
  )
  return [...strays, ...halves.flat()]
}

/** Only the layers of the chain in use, and the snapshots that libvirt knows. */
async function filesOf(host: LabHost, { id, disk, snapshots }: DomainSeen): Promise<string[]> {
  const vm = at(host, `/var/lib/skerry/vms/${id}.vm`)
  const layers = await layersOf(host, disk)
  const known = new Set([
    ...layers.map((file) => basename(file)),
    'seed.img',
    'serial.log',
    'opened',
  ])
  const strays: string[] = []
  for (const life of await namesIn(vm)) {
    for (const name of await namesIn(join(vm, life))) {
      if (!known.has(name)) strays.push(`${id}.vm/${life}/${name}`)
    }
  }
  const inside = (await snapshotsIn(host, disk)).sort()
  const same = inside.join('\n') === [...snapshots].sort().join('\n')
  if (!same)
    strays.push(`VM ${id} has snapshots [${inside.join()}], libvirt knows [${snapshots.join()}]`)
  return strays
}

async function templates(host: LabHost): Promise<string[]> {
  const names = await namesIn(at(host, '/var/lib/skerry/templates'))
  return names
    .filter((name) => !/^[^.]+\.(qcow2|json)$/.test(name))
    .map((name) => `templates/${name}`)
}

/** The entries of the DHCP server: a file for each VM, named by its UUID. */
async function addresses(host: LabHost, ids: readonly string[]): Promise<string[]> {
  const records = await Promise.all(
    ids.map((id) => readFile(at(host, `/var/lib/skerry/vms/${id}.json`), 'utf8').catch(() => '{}')),
  )
  const known = records.map((text) => (JSON.parse(text) as { uuid?: string }).uuid)
  return (await namesIn(at(host, '/var/lib/skerry/dhcp')))
    .filter((name) => !known.includes(name))
    .map((name) => `dhcp/${name}`)
}

/** Folders exist for a running guest that shares, and for no other. */
async function shares(host: LabHost, seen: ReadonlyMap<string, DomainSeen>): Promise<string[]> {
  const sharing = new Set<string>()
  for (const [id, { isRunning }] of seen) {
    const file = at(host, `/var/lib/skerry/vms/${id}.json`)
    const record = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as {
      sharing?: boolean
    }
    if (isRunning && record.sharing) sharing.add(id)
  }
  const sockets = (await namesIn(at(host, '/run/skerry/sockets')))
    .filter((name) => !sharing.has(name.replace(/\.sock(\.pid)?$/, '')))
    .map((name) => `/run/skerry/sockets/${name}`)
  const table = await readFile(`/proc/${host.init}/mountinfo`, 'utf8')
  const mounts = table
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => place.startsWith('/run/skerry/'))
    .filter((place) => !sharing.has(/^\/run\/skerry\/shares\/([^/]+)/.exec(place)?.[1] ?? ''))
    .map((place) => `mount ${place}`)
  const places = await Promise.all(
    ['shares', 'points', 'aside'].map(async (kind) =>
      (await namesIn(at(host, `/run/skerry/${kind}`)))
        .filter((name) => !sharing.has(name))
        .map((name) => `/run/skerry/${kind}/${name}`),
    ),
  )
  return [...sockets, ...mounts, ...places.flat()]
}

/** QEMU only for running domains, virtiofsd only for those, and no abandoned tool. */
async function processes(host: LabHost, domains: readonly DomainSeen[]): Promise<string[]> {
  const { stdout } = await host.run(['ps', '-ww', '-eo', 'stat=,args='])
  const running = domains.filter(({ isRunning }) => isRunning)
  return stdout
    .split('\n')
    .filter((line) => !line.startsWith('Z'))
    .filter((line) => {
      const qemu = /qemu-system-\S+ -name guest=([^,\s]+)/.exec(line)?.[1]
      if (qemu !== undefined) return !running.some(({ name }) => name === qemu)
      const served = /virtiofsd --socket-path=\S*\/([^/\s]+)\.sock/.exec(line)?.[1]
      if (served !== undefined) return !running.some(({ id }) => id === served)
      return /\bqemu-img\b/.test(line)
    })
    .map((line) => `process ${line.trim().slice(0, 120)}`)
}

/** libvirt's files of deleted domains, and saved memory of running guests. */
async function libvirtsOwn(host: LabHost, domains: readonly DomainSeen[]): Promise<string[]> {
  const saves = (await namesIn(at(host, '/var/lib/libvirt/qemu/save')))
    .filter((name) => !domains.some((each) => each.isSaved && name === `${each.name}.save`))
    .map((name) => `save/${name}`)
  const kept = (await namesIn(at(host, '/var/lib/libvirt/qemu/snapshot')))
    .filter((name) => !domains.some((each) => each.name === name))
    .map((name) => `snapshot/${name}`)
  const running = domains.filter(({ isRunning }) => isRunning).map(({ name }) => `${name}.pid`)
  const pids = (await namesIn(at(host, '/run/libvirt/qemu')))
    .filter((name) => name.endsWith('.pid') && name !== 'driver.pid' && !running.includes(name))
    .map((name) => `/run/libvirt/qemu/${name}`)
  return [...saves, ...kept, ...pids]
}
