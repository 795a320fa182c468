import {
  inside,
  linkOf,
  query,
  quoted,
  vmIn,
  type Record as Found,
  type SeenVm,
} from '@skerry/cloud-client'
import { attribute, text } from '@skerry/xml'

import { adminOrg } from './admin-org.ts'
import { followCloud } from './cloud-events.ts'
import { idIn, vmNamed } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'
import { stateWord, statusOf } from './state-words.ts'
import { mebibytes, type Column } from './table.ts'
import type { Address, Reading, ShownScreen, Template } from './verbs.ts'
import { cloudVmColumns, type VmRow } from './vm-row.ts'

const MIB = 1024 ** 2
const LOOK_AGAIN_MS = 1000

const templateColumns: readonly Column<Template>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'CPUS', align: 'right', cell: ({ cpus }) => String(cpus ?? '') },
  { head: 'MEMORY', align: 'right', cell: ({ memoryMiB }) => mebibytes(memoryMiB) },
  { head: 'DISK', align: 'right', cell: ({ virtualBytes }) => mebibytes(virtualBytes / MIB) },
]

export function cloudReading(side: CloudSide): Reading {
  const { cloud } = side
  const seen = async (word: string): Promise<SeenVm> =>
    vmIn(await cloud.get((await vmNamed(side, word)).href))
  return {
    ...{ columns: cloudVmColumns, templateColumns },
    async list({ state, tag, filter, all }) {
      if (tag !== undefined) throw noTags('--tag')
      const type = all === true ? 'adminVM' : 'vm'
      const told = [state === undefined ? '' : `status==${quoted(statusOf(state))}`, filter ?? '']
      const parts = told.filter((each) => each !== '')
      // Inside of brackets an "or" of the filter stays what it is beside our "and".
      const whole = parts.length > 1 ? parts.map((each) => `(${each})`).join(';') : parts.join('')
      const asked = { type, sortAsc: 'name', ...(whole !== '' && { filter: whole }) }
      return (await Array.fromAsync(query(cloud, asked))).map(rowOf)
    },
    async info(word) {
      const { id, name, status, vapp, cpus, memoryMB, diskMB, ...more } = await seen(word)
      const { address, network, nested, snapshot } = more
      const up = await cloud.get(`/api/vApp/${vapp}`)
      return {
        ...{ id, name, state: stateWord(status), address, cpus, memoryMiB: memoryMB },
        ...{ diskMiB: diskMB, vapp: attribute(up, 'name') ?? vapp, network, nested },
        snapshot: snapshot && (snapshot.name ?? snapshot.created),
      }
    },
    async address(word) {
      const vm = await seen(word)
      if (vm.address !== null && vm.status === 'POWERED_ON') return addressOf(vm, vm.address)
      throw noAddress(vm, word)
    },
    waitForAddress: (word, seconds) => waitForAddress(side, word, seconds, () => seen(word)),
    screen: (word) => ticketTo(side, word),
    async snapshots(word) {
      const { snapshot } = await seen(word)
      if (!snapshot) return []
      const { name, created, poweredOn } = snapshot
      return [{ name: name ?? UNNAMED, createdAt: created, memory: poweredOn, current: true }]
    },
    async templates() {
      const found = await Array.fromAsync(query(cloud, { type: 'vAppTemplate', sortAsc: 'name' }))
      return found.map(templateOf)
    },
    otherTemplate: () => 'choose another by --name: a template of a cloud stays',
    events: (since) => followCloud(side, since),
    names: (what) => namesOf(side, what),
  }
}

/** How a snapshot is called whose maker gave it no name. */
export const UNNAMED = 'current'

export function rowOf(found: Found): VmRow {
  const { name = '', status = '', ipAddress = null, containerName = '', orgName, hostName } = found
  return {
    ...{ id: idIn(found['href']), name, state: stateWord(status), address: ipAddress },
    ...{ cpus: Number(found['numberOfCpus']), memoryMiB: Number(found['memoryMB']) },
    ...{ diskMiB: Number(found['diskMB']), vapp: containerName },
    ...(orgName !== undefined && { org: orgName }),
    ...(hostName !== undefined && { host: hostName }),
  }
}

export const templateOf = ({ name = '', ...found }: Found): Template => ({
  name,
  ...{ cpus: Number(found['numberOfCpus']), memoryMiB: Number(found['memoryMB']) },
  virtualBytes: Number(found['diskMB']) * MIB,
})

export const noTags = (option: string): Failure =>
  new Failure('refused', `${option} is for VMs of this machine; a cloud keeps no tags`, {
    hint: 'give VMs names, or put those that belong together into one vApp',
  })

const addressOf = ({ id, name, network }: SeenVm, address: string): Address => ({
  ...{ id, address, body: { vm: id, name, address, network } },
})

function noAddress({ status, name }: SeenVm, word: string): Failure {
  return status === 'POWERED_ON'
    ? new Failure('refused', `${name} has no address yet`, { hint: `skerry ip ${word} --wait` })
    : new Failure('refused', `${name} is ${stateWord(status)}, and has no address`, {
        hint: `turn it on: skerry start ${word}`,
      })
}

async function waitForAddress(
  { now, wait }: CloudSide,
  word: string,
  seconds: number,
  look: () => Promise<SeenVm>,
): Promise<Address> {
  const until = now() + seconds * 1000
  for (;;) {
    const vm = await look()
    if (vm.status !== 'POWERED_ON') throw noAddress(vm, word)
    if (vm.address !== null) return addressOf(vm, vm.address)
    if (now() >= until) {
      throw new Failure('timedOut', `${vm.name} has no address after ${seconds} s`, {
        hint: `see how far the guest is: skerry console ${word}`,
      })
    }
    await wait(LOOK_AGAIN_MS)
  }
}

/** A page of the console, which stands at another host than the cloud: where that is, the ticket says. */
async function ticketTo(side: CloudSide, word: string): Promise<ShownScreen> {
  const document = await side.cloud.get((await vmNamed(side, word)).href)
  const { name, status } = vmIn(document)
  const href = linkOf(document, 'screen:acquireTicket')
  if (href === undefined) {
    throw new Failure('refused', `${name} is ${stateWord(status)}, and shows no screen to you`, {
      hint:
        status === 'POWERED_ON'
          ? 'your role needs the right vm:console'
          : `turn it on: skerry start ${word}`,
    })
  }
  const ticket = await side.cloud.act('POST', href)
  const screen = URL.parse(attribute(ticket, 'wss') ?? '')
  if (!screen) {
    throw new Failure('refused', 'this cloud has no console to show screens', {
      hint: 'its administrator gives it one: skerry cloud console, and skerry cloud init --console',
    })
  }
  const address = `https://${screen.host}/console?${encodeURIComponent(text(ticket) ?? '')}`
  return { address, state: stateWord(status), expires: attribute(ticket, 'expires') }
}

/** By the word that stands for them in a usage. */
const named: Readonly<Record<string, string>> = {
  ...{ VM: 'vm', VAPP: 'vApp', TEMPLATE: 'vAppTemplate', VDC: 'orgVdc', CATALOG: 'catalog' },
  ...{ ORG: 'organization', HOST: 'host' },
}
/** More than these nobody reads through in the middle of a line. */
const NAMES_MAX = 512

async function namesOf(side: CloudSide, what: string): Promise<readonly string[]> {
  const { cloud } = side
  if (what === 'USER') {
    const users = inside(await adminOrg(side), 'Users', 'UserReference')
    return users.map((each) => attribute(each, 'name') ?? '')
  }
  if (what === 'TASK') {
    const filter = 'status==running,status==queued'
    const asked = { type: 'task', fields: ['status'], filter, limit: NAMES_MAX }
    return (await Array.fromAsync(query(cloud, asked))).map(({ href }) => idIn(href))
  }
  const type = named[what]
  if (type === undefined) return []
  const asked = { type, fields: ['name'], sortAsc: 'name', limit: NAMES_MAX }
  return (await Array.fromAsync(query(cloud, asked))).map(({ name = '' }) => name)
}
