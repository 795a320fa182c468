// The cloud that the acceptance tests of its API share: two hosts with libvirt, two cells behind a balancer, two tenants.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import {
  reasonToSkip,
  reasonWithoutTemporal,
  startLab,
  until,
  type Lab,
  type LabCloud,
  type LabHost,
  type Login,
} from '@skerry/lab'
import { attribute, childrenByLocalName, type Element } from '@skerry/xml'

import { CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import { inDomain } from '../in-guest.ts'

export const skip =
  reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false

/** Generous: guests are emulated, two at a time on few cores. */
export const BOOT_MS = 180_000

export interface Place extends AsyncDisposable {
  readonly lab: Lab
  readonly cloud: LabCloud
}

let opened: Place | undefined

interface Size {
  readonly hosts: number
  readonly cells: number
  readonly console?: boolean
}

export async function openPlace(size: Size = { hosts: 2, cells: 2 }): Promise<Place> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'cloud-')))
  const lab = stack.use(await startLab({ dir: join(path, 'lab'), ...size }))
  assert.ok(lab.cloud)
  const all = stack.move()
  opened = { lab, cloud: lab.cloud, [Symbol.asyncDispose]: () => all.disposeAsync() }
  return opened
}

export function there(): Place {
  assert.ok(opened, 'the lab has started')
  return opened
}

export function tenant(at = 0): LabCloud['tenants'][number] {
  const found = there().cloud.tenants[at]
  assert.ok(found)
  return found
}

/** A client with keep-alive connections, for hundreds of requests. */
export async function logIn({ user, org, password }: Login, version = '5.1'): Promise<CloudClient> {
  const { url, ca: file } = there().cloud
  const ca = readFileSync(file, 'utf8')
  const client = await CloudClient.logIn(url, ca, `${user}@${org}`, password)
  const headers = { ...client.headers, accept: `application/*+xml;version=${version}` }
  return new CloudClient(url, ca, headers, {
    agent: new Agent({ keepAlive: true, maxSockets: 2 }),
  })
}

/** The VMs of a vApp, by their names. */
export async function vmsOf(client: CloudClient, vapp: string): Promise<readonly string[]> {
  const [children] = childrenByLocalName(await client.get(vapp), 'Children')
  return childrenByLocalName(children, 'Vm')
    .toSorted((a, b) => (attribute(a, 'name') ?? '').localeCompare(attribute(b, 'name') ?? ''))
    .map((vm) => attribute(vm, 'href') ?? '')
}

/** The status of a VM or a vApp in the query service. */
export async function wordOf(client: CloudClient, href: string): Promise<string | undefined> {
  const type = href.includes('/vapp-') ? 'vApp' : 'vm'
  const root = await client.get(`/api/query?type=${type}&pageSize=128&fields=status`)
  const records = childrenByLocalName(root, type === 'vm' ? 'VMRecord' : 'VAppRecord')
  return attribute(
    records.find((each) => attribute(each, 'href') === href),
    'status',
  )
}

export interface Domain {
  readonly host: LabHost
  readonly name: string
}

/** The domain of a VM, and its host. */
export async function domainOf(vm: string): Promise<Domain> {
  const name = `cloud-${vm.slice(-36)}`
  for (const host of there().lab.hosts) {
    const { code } = await host.run(['virsh', '-q', 'domstate', name])
    if (code === 0) return { host, name }
  }
  throw new Error(`no host has ${name}`)
}

/** The state of a VM in libvirt: 'running', 'shut off'. */
export async function stateOf({ host, name }: Domain): Promise<string> {
  return (await host.run(['virsh', '-q', 'domstate', name])).stdout.trim()
}

/** The output of a script in the guest, once it is up. */
export async function inGuest({ host, name }: Domain, script: string): Promise<string> {
  const ping = ['virsh', 'qemu-agent-command', name, '{"execute":"guest-ping"}']
  const answers = async () => {
    if ((await host.run(ping)).code === 0) return true
    // Polling a hundred times a second would leave no CPU time for the guest on two cores.
    await sleep(300)
    return false
  }
  await until(`the guest of ${name} is up`, answers, BOOT_MS)
  return (await inDomain(host, name, script)).trim()
}

/** Identifies one boot of a guest's kernel. */
export const kernelOf = (domain: Domain): Promise<string> =>
  inGuest(domain, 'cat /proc/sys/kernel/random/boot_id')

/** Waits until the guest is up with another kernel boot than this. */
export async function untilAnotherKernel(domain: Domain, before: string): Promise<string> {
  const other = async () => {
    // While it shuts down the agent may return partial output.
    const now = await kernelOf(domain).catch(() => before)
    if (now !== before && now !== '') return now
    await sleep(300)
    return undefined
  }
  return until(`${domain.name} has another kernel`, other, BOOT_MS)
}

export const nodesIn = (root: Element | undefined, name: string): Element[] =>
  childrenByLocalName(root, name)
