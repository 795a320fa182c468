import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import type { PowerState } from '@skerry/vm'

import { hasData, layersAbove, layersLeftBelow, readLayers } from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { askMonitor } from './monitor.ts'
import { fileOf, readOpenDisk } from './open-disk.ts'
import { syncDirectory } from './record.ts'
import { redefine } from './redefine.ts'

const TAKE_BACK = 'take-back'
const TAKE_BACK_TIMEOUT_MS = 60_000

/**
 * Which layer is written to is what libvirt's definition says. A crash between a switch to a new
 * layer and libvirt's writing it down leaves one above it that no definition names.
 */
export async function settleLayers(host: Host, found: Found, power: PowerState): Promise<void> {
  const { disk } = await readFacts(host, found.dom, 'next')
  const above = await layersAbove(disk)
  if (above.length > 0 && (power === 'on' || power === 'paused'))
    await takeBack(host, found.dom, disk, above)
  else for (const file of above) await takeAwayOrOver(host, found, power, file)
  await letGoBelow(host, found, power)
}

/**
 * Takes away layers that the disk no longer stands on, once no definition names them either; libvirt
 * may have died before it wrote its own anew. Others that stand on them have links of their own.
 */
export async function letGoBelow(host: Host, found: Found, power: PowerState): Promise<void> {
  // What was saved with its memory says for itself what it stands on.
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

/** The guest may have been told that its data is safe, so a layer that holds any is taken over. */
async function takeAwayOrOver(
  host: Host,
  found: Found,
  power: PowerState,
  file: string,
): Promise<void> {
  if (!(await hasData(file))) await rm(file)
  else if (power === 'off') await redefine(host, found, { layers: await readLayers(file) })
  else host.note(`${file} holds data that VM ${found.record.id} was not suspended with`)
}

/**
 * QEMU may write to the layer or hold it open, and libvirt would never know. What is in it goes
 * down to where libvirt believes the guest to write, and then nobody has it open.
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
  for (const stray of above) {
    for (const name of nodesOf(nodes, stray)) {
      await askMonitor(host, dom, 'blockdev-del', { 'node-name': name })
    }
    await rm(stray, { force: true })
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
      throw new Fault('timed-out', `QEMU did not take back a layer of ${dom.name} in time`)
    }
    await sleep(20)
  }
  if ((await readOpenDisk(host, dom)).node === base) return
  throw new Fault('unavailable', `QEMU could not take back a layer of ${dom.name}`)
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

/** What stands on the file first, then the file itself: the order in which QEMU lets go of them. */
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
