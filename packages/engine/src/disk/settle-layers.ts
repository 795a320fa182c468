import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { syncDirectory } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { readFacts, type FoundVm } from '../domain/find-domain.ts'
import { askMonitor } from '../domain/monitor.ts'
import type { Host } from '../host/host.ts'
import { hasData, layersAbove, layersLeftBelow, readLayers } from './disk.ts'
import { fileOf, readOpenDisk } from './open-disk.ts'
import { redefine } from './redefine.ts'

const TAKE_BACK = 'take-back'
const TAKE_BACK_TIMEOUT_MS = 60_000

/**
 * The active layer is the one in libvirt's definition. A crash between a switch to a new layer and
 * libvirt's update of its definition leaves a layer above it that no definition names.
 */
export async function settleLayers(host: Host, found: FoundVm, power: PowerState): Promise<void> {
  const { disk } = await readFacts(host, found.dom, 'next')
  const above = await layersAbove(disk)
  if (above.length > 0 && (power === 'on' || power === 'paused'))
    await takeBack(host, found.dom, disk, above)
  else for (const file of above) await takeAwayOrOver(host, found, power, file)
  await letGoBelow(host, found, power)
}

/**
 * Removes layers that the disk is no longer based on, once no definition names them either; libvirt
 * may have died before it updated its own. Other disks based on them have their own links.
 */
export async function letGoBelow(host: Host, found: FoundVm, power: PowerState): Promise<void> {
  // A saved image has its own definition of the chain.
  if (power === 'suspended') return
  const { disk } = await readFacts(host, found.dom, 'next')
  const left = await layersLeftBelow(await readLayers(disk))
  if (left.length === 0) return
  if (power === 'off') await redefine(host, found, {})
  const flags = libvirt.DomainXMLFlags.inactive
  const { xml } = await host.link.call(libvirt.domainGetXmlDesc, { dom: found.dom, flags })
  for (const file of left) if (!xml.includes(basename(file))) await rm(file)
  await syncDirectory(dirname(disk))
}

/** The guest may rely on its data being stored, so a layer that holds data becomes the active one. */
async function takeAwayOrOver(
  host: Host,
  found: FoundVm,
  power: PowerState,
  file: string,
): Promise<void> {
  if (!(await hasData(file))) await rm(file)
  else if (power === 'off') await redefine(host, found, { layers: await readLayers(file) })
  else
    host.log(`${file} holds data that is not part of the suspended state of VM ${found.record.id}`)
}

/**
 * QEMU may write to the layer or hold it open without libvirt's knowledge. Its data is committed to
 * the layer that libvirt believes to be active; then the layer is closed.
 */
async function takeBack(
  host: Host,
  dom: libvirt.Domain,
  disk: string,
  above: readonly string[],
): Promise<void> {
  const { node, file } = await readOpenDisk(host, dom)
  const nodes = await openNodes(host, dom)
  if (above.includes(file)) await commit(host, dom, node, formatNode(nodes, disk))
  for (const layer of above) {
    for (const name of nodesOf(nodes, layer)) {
      await askMonitor(host, dom, 'blockdev-del', { 'node-name': name })
    }
    await rm(layer, { force: true })
  }
}

async function commit(host: Host, dom: libvirt.Domain, top: string, base: string): Promise<void> {
  const job = { 'job-id': TAKE_BACK, device: top, 'base-node': base }
  await askMonitor(host, dom, 'block-commit', job)
  const deadline = performance.now() + TAKE_BACK_TIMEOUT_MS
  let isTold = false
  for (;;) {
    const jobs = (await askMonitor(host, dom, 'query-block-jobs')) as Job[]
    const mine = jobs.find(({ device }) => device === TAKE_BACK)
    if (!mine) break
    if (mine.ready && !isTold) {
      await askMonitor(host, dom, 'block-job-complete', { device: TAKE_BACK })
      isTold = true
    }
    if (performance.now() > deadline) {
      throw new Fault('timed-out', `QEMU did not commit a disk layer of ${dom.name} in time`)
    }
    await sleep(20)
  }
  if ((await readOpenDisk(host, dom)).node === base) return
  throw new Fault('unavailable', `QEMU failed to commit a disk layer of ${dom.name}`)
}

interface Job {
  readonly device: string
  readonly ready?: boolean
}

interface Node {
  readonly 'node-name': string
  readonly drv: string
  readonly file: string
}

async function openNodes(host: Host, dom: libvirt.Domain): Promise<Node[]> {
  const nodes = (await askMonitor(host, dom, 'query-named-block-nodes', { flat: true })) as Node[]
  return nodes.map((node) => ({ ...node, file: fileOf(node.file) }))
}

/** Format nodes first, then protocol nodes: the order in which QEMU releases them. */
function nodesOf(nodes: readonly Node[], file: string): string[] {
  const own = nodes.filter((node) => node.file === file)
  return [
    ...own.filter(({ drv }) => drv === 'qcow2'),
    ...own.filter(({ drv }) => drv === 'file'),
  ].map((node) => node['node-name'])
}

function formatNode(nodes: readonly Node[], file: string): string {
  const node = nodes.find((each) => each.file === file && each.drv === 'qcow2')
  if (node) return node['node-name']
  throw new Fault('unavailable', `QEMU does not have ${file} open`)
}
