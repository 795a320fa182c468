import {
  inside,
  linkOf,
  query,
  quoted,
  usageIn,
  vmIn,
  type Record as Found,
  type SeenVm,
} from '@skerry/cloud-client'
import { mebibytes, type TableColumn } from '@skerry/command-line'
import { attribute, text } from '@skerry/xml'

import { cloudVmColumns } from '../local/vm-row.ts'
import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import { stateWord, statusOf } from '../vms/state-words.ts'
import type { VmAddress, VmReader, ShownScreen, TemplateEntry } from '../vms/vm-backend.ts'
import type { VmListRow } from '../vms/vm-list-row.ts'
import { adminOrg } from './admin-org.ts'
import { cardsIn, cardSectionIn } from './cards.ts'
import { reachOf } from './edge/reach.ts'
import { routeTargets, ruleIds } from './edge/rule-ids.ts'
import { followCloud } from './events.ts'
import { idIn, vmNamed } from './named.ts'

const MIB = 1024 ** 2
const LOOK_AGAIN_MS = 1000

const templateColumns: readonly TableColumn<TemplateEntry>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'CPUS', align: 'right', cell: ({ cpus }) => String(cpus ?? '') },
  { head: 'MEMORY', align: 'right', cell: ({ memoryMiB }) => mebibytes(memoryMiB) },
  { head: 'DISK', align: 'right', cell: ({ virtualBytes }) => mebibytes(virtualBytes / MIB) },
]

export function cloudReading(side: CloudSession): VmReader {
  const { cloud } = side
  const seen = async (word: string): Promise<SeenVm> =>
    vmIn(await cloud.get((await vmNamed(side, word)).href))
  return {
    columns: cloudVmColumns,
    templateColumns,
    async list({ state, tag, filter, all }) {
      if (tag !== undefined) throw noTags('--tag')
      const type = all === true ? 'adminVM' : 'vm'
      const filters = [
        state === undefined ? '' : `status==${quoted(statusOf(state))}`,
        filter ?? '',
      ]
      const parts = filters.filter((each) => each !== '')
      // Parentheses keep an "or" of the filter separate from our "and".
      const whole = parts.length > 1 ? parts.map((each) => `(${each})`).join(';') : parts.join('')
      const requested = { type, sortAsc: 'name', ...(whole !== '' && { filter: whole }) }
      return (await Array.fromAsync(query(cloud, requested))).map(rowOf)
    },
    info: (word) => detailsOf(side, word),
    async address(word) {
      const vm = await seen(word)
      if (vm.address !== null && vm.status === 'POWERED_ON') return addressOf(vm, vm.address)
      throw noAddress(vm, word)
    },
    waitForAddress: (word, seconds) => waitForAddress(side, word, seconds, () => seen(word)),
    async reach(word, port, seconds) {
      const found = await waitForAddress(side, word, seconds, () => seen(word))
      const document = await cloud.get((await vmNamed(side, word)).href)
      return { ...found, ...(await reachOf(side, document, { address: found.address, port })) }
    },
    screen: (word) => ticketTo(side, word),
    async usage(word, { step, points }) {
      const { href } = await vmNamed(side, word)
      return usageIn(await cloud.get(`${href}/metrics?step=${step}&points=${points}`))
    },
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
    otherTemplate: () => 'choose another name with --name: a template of a cloud cannot be deleted',
    events: (since) => followCloud(side, since),
    names: (what) => namesOf(side, what),
  }
}

async function detailsOf(side: CloudSession, word: string): Promise<VmListRow> {
  const document = await side.cloud.get((await vmNamed(side, word)).href)
  const { id, name, status, vapp, cpus, memoryMB, diskMB, ...more } = vmIn(document)
  const { address, network, nested, snapshot } = more
  const section = cardSectionIn(document)
  const ipv6 = section && cardsIn(section)[0]?.ipv6
  const up = await side.cloud.get(`/api/vApp/${vapp}`)
  return {
    id,
    name,
    state: stateWord(status),
    address,
    cpus,
    memoryMiB: memoryMB,
    diskMiB: diskMB,
    vapp: attribute(up, 'name') ?? vapp,
    network,
    ...(typeof ipv6 === 'string' && { ipv6 }),
    nested,
    snapshot: snapshot && (snapshot.name ?? snapshot.created),
  }
}

/** The name shown for an unnamed snapshot. */
export const UNNAMED = 'current'

export function rowOf(found: Found): VmListRow {
  const { name = '', status = '', ipAddress = null, containerName = '', orgName, hostName } = found
  return {
    id: idIn(found['href']),
    name,
    state: stateWord(status),
    address: ipAddress,
    cpus: Number(found['numberOfCpus']),
    memoryMiB: Number(found['memoryMB']),
    diskMiB: Number(found['diskMB']),
    vapp: containerName,
    ...(orgName !== undefined && { org: orgName }),
    ...(hostName !== undefined && { host: hostName }),
  }
}

export const templateOf = ({ name = '', ...found }: Found): TemplateEntry => ({
  name,
  cpus: Number(found['numberOfCpus']),
  memoryMiB: Number(found['memoryMB']),
  virtualBytes: Number(found['diskMB']) * MIB,
})

export const noTags = (option: string): Failure =>
  new Failure('refused', `${option} is for VMs of this machine; a cloud has no tags`, {
    hint: 'use names, or put related VMs into one vApp',
  })

const addressOf = ({ id, name, network }: SeenVm, address: string): VmAddress => ({
  id,
  address,
  body: { vm: id, name, address, network },
})

function noAddress({ status, name }: SeenVm, word: string): Failure {
  return status === 'POWERED_ON'
    ? new Failure('refused', `${name} has no address yet`, {
        hint: `skerry address ${word} --wait`,
      })
    : new Failure('refused', `${name} is ${stateWord(status)}, and has no address`, {
        hint: `turn it on: skerry start ${word}`,
      })
}

async function waitForAddress(
  { now, wait }: CloudSession,
  word: string,
  seconds: number,
  look: () => Promise<SeenVm>,
): Promise<VmAddress> {
  const until = now() + seconds * 1000
  for (;;) {
    const vm = await look()
    if (vm.status !== 'POWERED_ON') throw noAddress(vm, word)
    if (vm.address !== null) return addressOf(vm, vm.address)
    if (now() >= until) {
      throw new Failure('timedOut', `${vm.name} has no address after ${seconds} s`, {
        hint: `check the boot of the guest: skerry console ${word}`,
      })
    }
    await wait(LOOK_AGAIN_MS)
  }
}

/** The URL of the console page. The console is on another host than the cloud; the ticket contains its address. */
async function ticketTo(side: CloudSession, word: string): Promise<ShownScreen> {
  const document = await side.cloud.get((await vmNamed(side, word)).href)
  const { name, status } = vmIn(document)
  const href = linkOf(document, 'screen:acquireTicket')
  if (href === undefined) {
    throw new Failure(
      'refused',
      `${name} is ${stateWord(status)}; its screen is not available to you`,
      {
        hint:
          status === 'POWERED_ON'
            ? 'your role needs the right vm:console'
            : `turn it on: skerry start ${word}`,
      },
    )
  }
  const ticket = await side.cloud.act('POST', href)
  const screen = URL.parse(attribute(ticket, 'wss') ?? '')
  if (!screen) {
    throw new Failure('refused', 'this cloud has no console server', {
      hint: 'an administrator sets one up: skerry admin console-server create, and skerry admin init --console',
    })
  }
  const address = `https://${screen.host}/console?${encodeURIComponent(text(ticket) ?? '')}`
  return { address, state: stateWord(status), expires: attribute(ticket, 'expires') }
}

/** Query types by argument name. */
const named: Readonly<Record<string, string>> = {
  VM: 'vm',
  VAPP: 'vApp',
  TEMPLATE: 'vAppTemplate',
  VDC: 'orgVdc',
  CATALOG: 'catalog',
  NETWORK: 'orgVdcNetwork',
  EDGE: 'edgeGateway',
  EXTERNAL: 'externalNetwork',
  GROUP: 'securityGroup',
  ORG: 'organization',
  HOST: 'host',
}
/** More completions than this are of no use. */
const NAMES_MAX = 512

async function namesOf(side: CloudSession, what: string): Promise<readonly string[]> {
  const { cloud } = side
  if (what === 'USER') {
    const users = inside(await adminOrg(side), 'Users', 'UserReference')
    return users.map((each) => attribute(each, 'name') ?? '')
  }
  if (what === 'TASK') {
    const filter = 'status==running,status==queued'
    const requested = { type: 'task', fields: ['status'], filter, limit: NAMES_MAX }
    return (await Array.fromAsync(query(cloud, requested))).map(({ href }) => idIn(href))
  }
  if (what === 'RULE') return ruleIds(side)
  if (what === 'ROUTE') return routeTargets(side)
  const type = named[what]
  if (type === undefined) return []
  const requested = { type, fields: ['name'], sortAsc: 'name', limit: NAMES_MAX }
  return (await Array.fromAsync(query(cloud, requested))).map(({ name = '' }) => name)
}
