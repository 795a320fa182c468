import { linkTo, vappIn, vmIn, type SeenVm } from '@skerry/cloud-client'
import { attribute, element, type Element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import { stateWord } from '../vms/state-words.ts'
import type { ChangeOptions, Named, CommandResult, WantedVm } from '../vms/vm-backend.ts'
import { findNamed, kinds, oneNamed } from './named.ts'
import { onlyOne } from './only-candidate.ts'
import { noTags } from './reading.ts'
import { reconfigured } from './sizes.ts'
import { follow, underWay } from './task.ts'

/** The template used if none is given, as with vmd. */
const DEFAULT = 'default'

/**
 * Creates a vApp with one VM of the same name, so that the name means both. Sizes that differ from the template are set by a
 * second request: a cloud runs the tasks of a VM in order.
 */
export async function createInCloud(
  side: CloudSession,
  wanted: WantedVm,
  doing: ChangeOptions,
): Promise<CommandResult> {
  requireCloudly(wanted)
  const { cloud } = side
  const { id, name = id, start } = wanted
  const vdc = await cloud.get(await vdcFor(side, wanted.vdc))
  const source = element('Source', { href: await templateFor(side, wanted.template), name })
  const sized = [wanted.cpus, wanted.memoryMiB, wanted.diskMiB].some((each) => each !== undefined)
  const body = element(
    'ComposeVAppParams',
    { name: id, powerOn: start && !sized },
    element('SourcedItem', {}, source, networksOf(wanted), guestOf(wanted)),
  )
  const made = await cloud.act('POST', linkTo(vdc, 'add', 'composeVAppParams'), { body })
  const [vm] = made ? vappIn(made).vms : []
  if (!made || !vm) throw new Failure('refused', 'the cloud created a vApp without a VM')
  const begun = [made]
  if (sized) {
    begun.push((await reconfigured(side, await cloud.get(vm.href), wanted)) ?? made)
    if (start) begun.push(await powerOn(side, vm.href))
  }
  return reportCreated(side, { id, href: vm.href, start }, begun, doing)
}

async function powerOn({ cloud }: CloudSession, href: string): Promise<Element> {
  const task = await cloud.act('POST', linkTo(await cloud.get(href), 'power:powerOn'))
  if (task) return task
  throw new Failure('refused', 'the cloud returned no task for the start')
}

interface MadeVm {
  readonly id: string
  readonly href: string
  readonly start: boolean
}

/** Waits for the tasks in order; the last one determines the result. */
async function reportCreated(
  side: CloudSession,
  { id, href, start }: MadeVm,
  begun: readonly Element[],
  doing: ChangeOptions,
): Promise<CommandResult> {
  let last = ''
  for (const each of begun) last = (await follow(side, each, doing))?.id ?? last
  if (!doing.wait) return underWay(id, last)
  const vm = vmIn(await side.cloud.get(href))
  const body = bodyOf(vm, last)
  return start
    ? { text: `${id} is created and ${stateWord(vm.status)}`, body }
    : { text: `${id} is created`, body, next: `skerry start ${id}` }
}

const bodyOf = ({ id, name, status, vapp }: SeenVm, task: string) => ({
  vm: id,
  name,
  vapp,
  state: stateWord(status),
  task: { id: task, status: 'success' },
})

/** Copies the whole vApp, because a cloud copies nothing smaller; renames the VM in it, so that each name means one VM. */
export async function cloneInCloud(
  side: CloudSession,
  vm: SeenVm,
  { id, name = id }: Named,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { cloud } = side
  const vapp = await cloud.get(`/api/vApp/${vm.vapp}`)
  const { name: vappName, vms } = vappIn(vapp)
  if (vms.length > 1) {
    const many = `${vappName} has ${vms.length} VMs`
    throw new Failure('refused', `a cloud copies whole vApps, and ${many}`, {
      hint: `skerry vapp clone ${vappName} ${id} copies all of it`,
    })
  }
  const href = attribute(vapp, 'href')
  const vdc = await cloud.get(linkTo(vapp, 'up', 'vdc'))
  const body = element('CloneVAppParams', { name: id }, element('Source', { href }))
  const made = await cloud.act('POST', linkTo(vdc, 'add', 'cloneVAppParams'), { body })
  const [copy] = made ? vappIn(made).vms : []
  if (!made || !copy) throw new Failure('refused', 'the cloud created a vApp without a VM')
  const edit = linkTo(await cloud.get(copy.href), 'edit')
  await cloud.act('PUT', edit, { body: element('Vm', { name }) })
  const result = await reportCreated(side, { id, href: copy.href, start: false }, [made], doing)
  return doing.wait ? { ...result, text: `${id} is created from ${vm.name}` } : result
}

function requireCloudly({ tag, autostart, bridge }: WantedVm): void {
  if (tag !== undefined) throw noTags('--tag')
  const option = autostart === true ? '--autostart' : bridge === undefined ? '' : '--bridge'
  if (option === '') return
  throw new Failure('refused', `${option} is for VMs of this machine`, {
    hint: 'omit it: a cloud restarts VMs that were running, and has its own networks',
  })
}

/** One card on each network, in this order. */
function networksOf({ networks = [] }: WantedVm): Element | undefined {
  if (networks.length === 0) return undefined
  const cards = networks.map((network, index) =>
    element(
      'NetworkConnection',
      { network },
      element('NetworkConnectionIndex', {}, index),
      // Valid also on a direct network, where the cloud has no addresses.
      element('IpAddressAllocationMode', {}, 'DHCP'),
    ),
  )
  return element('InstantiationParams', {}, element('NetworkConnectionSection', {}, ...cards))
}

function guestOf({ id, sshKeys = [], userData }: WantedVm): Element | undefined {
  if (sshKeys.length === 0 && userData === undefined) return undefined
  return element(
    'GuestCustomizationSection',
    {},
    userData === undefined && element('ComputerName', {}, id),
    ...sshKeys.map((key) => element('SshKey', {}, key)),
    userData !== undefined && element('UserData', {}, userData),
  )
}

/** The data centre given by option or profile, or the only one. */
export async function vdcFor(side: CloudSession, result: string | undefined): Promise<string> {
  const name = result ?? side.profile.vdc
  if (name !== undefined) return (await oneNamed(side, kinds.vdc, name)).href
  return onlyOne(side, kinds.vdc, {
    none: 'there is no data centre for VMs',
    noneHint: 'an administrator creates one: skerry vdc create NAME --org ORG',
    several: 'there are several data centres',
    option: '--vdc',
  })
}

/** The template given by option, the one named default, or the only one. */
async function templateFor(side: CloudSession, result: string | undefined): Promise<string> {
  if (result !== undefined) return (await oneNamed(side, kinds.template, result)).href
  const usual = await findNamed(side, kinds.template, DEFAULT)
  if (usual) return usual.href
  return onlyOne(side, kinds.template, {
    none: 'there is no template for VMs',
    noneHint: 'import an image: skerry template import FILE --name NAME',
    several: 'there are several templates, and none is named default',
    option: '--template',
  })
}
