import { linkTo, vappIn, vmIn, type SeenVm } from '@skerry/cloud-client'
import { attribute, element, type Element } from '@skerry/xml'

import { findNamed, kinds, oneNamed } from './cloud-named.ts'
import { onlyOne } from './cloud-only.ts'
import { noTags } from './cloud-reading.ts'
import type { CloudSide } from './cloud-side.ts'
import { reconfigured } from './cloud-sizes.ts'
import { follow, underWay } from './cloud-task.ts'
import { Failure } from './failure.ts'
import { stateWord } from './state-words.ts'
import type { Doing, Named, Told, WantedVm } from './verbs.ts'

/** A template that is taken when none is named, as on this machine. */
const DEFAULT = 'default'

/**
 * A vApp of this name with one VM of this name in it, so that the word the person chose means both. What a template cannot say,
 * such as other sizes, is asked for behind it: a cloud does one after the other.
 */
export async function createInCloud(
  side: CloudSide,
  wanted: WantedVm,
  doing: Doing,
): Promise<Told> {
  requireCloudly(wanted)
  const { cloud } = side
  const { id, name = id, start } = wanted
  const vdc = await cloud.get(await vdcFor(side, wanted.vdc))
  const source = element('Source', { href: await templateFor(side, wanted.template), name })
  const sized = [wanted.cpus, wanted.memoryMiB, wanted.diskMiB].some((each) => each !== undefined)
  const body = element(
    'ComposeVAppParams',
    { name: id, powerOn: start && !sized },
    element('SourcedItem', {}, source, guestOf(wanted)),
  )
  const made = await cloud.act('POST', linkTo(vdc, 'add', 'composeVAppParams'), { body })
  const [vm] = made ? vappIn(made).vms : []
  if (!made || !vm) throw new Failure('refused', 'the cloud made a vApp without its VM')
  const begun = [made]
  if (sized) {
    begun.push((await reconfigured(side, await cloud.get(vm.href), wanted)) ?? made)
    if (start) begun.push(await powerOn(side, vm.href))
  }
  return tellMade(side, { id, href: vm.href, start }, begun, doing)
}

async function powerOn({ cloud }: CloudSide, href: string): Promise<Element> {
  const task = await cloud.act('POST', linkTo(await cloud.get(href), 'power:powerOn'))
  if (task) return task
  throw new Failure('refused', 'the cloud did not say by which task it is started')
}

interface MadeVm {
  readonly id: string
  readonly href: string
  readonly start: boolean
}

/** Waits for one task after the other; the last says how it ended. */
async function tellMade(
  side: CloudSide,
  { id, href, start }: MadeVm,
  begun: readonly Element[],
  doing: Doing,
): Promise<Told> {
  let last = ''
  for (const each of begun) last = (await follow(side, each, doing))?.id ?? last
  if (!doing.wait) return underWay(id, last)
  const vm = vmIn(await side.cloud.get(href))
  const body = bodyOf(vm, last)
  return start
    ? { text: `${id} is made and ${stateWord(vm.status)}`, body }
    : { text: `${id} is made`, body, next: `skerry start ${id}` }
}

const bodyOf = ({ id, name, status, vapp }: SeenVm, task: string) => ({
  ...{ vm: id, name, vapp, state: stateWord(status) },
  task: { id: task, status: 'success' },
})

/** A copy of its whole vApp, for a cloud copies nothing less; the VM in it gets a name of its own, so that each word means one VM. */
export async function cloneInCloud(
  side: CloudSide,
  vm: SeenVm,
  { id, name = id }: Named,
  doing: Doing,
): Promise<Told> {
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
  if (!made || !copy) throw new Failure('refused', 'the cloud made a vApp without its VM')
  const edit = linkTo(await cloud.get(copy.href), 'edit')
  await cloud.act('PUT', edit, { body: element('Vm', { name }) })
  const told = await tellMade(side, { id, href: copy.href, start: false }, [made], doing)
  return doing.wait ? { ...told, text: `${id} is made from ${vm.name}` } : told
}

function requireCloudly({ tag, autostart, bridge }: WantedVm): void {
  if (tag !== undefined) throw noTags('--tag')
  const option = autostart === true ? '--autostart' : bridge === undefined ? '' : '--bridge'
  if (option === '') return
  throw new Failure('refused', `${option} is for VMs of this machine`, {
    hint: 'leave it out: a cloud starts again what ran, and has networks of its own',
  })
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

/** The data centre that is named, by the line or by the profile, or the only one. */
async function vdcFor(side: CloudSide, told: string | undefined): Promise<string> {
  const name = told ?? side.profile.vdc
  if (name !== undefined) return (await oneNamed(side, kinds.vdc, name)).href
  return onlyOne(side, kinds.vdc, {
    none: 'there is no data centre to make VMs in',
    noneHint: 'an administrator makes one: skerry vdc add NAME --org ORG',
    several: 'there are several data centres',
    option: '--vdc',
  })
}

/** The template that is named, the one called default, or the only one. */
async function templateFor(side: CloudSide, told: string | undefined): Promise<string> {
  if (told !== undefined) return (await oneNamed(side, kinds.template, told)).href
  const usual = await findNamed(side, kinds.template, DEFAULT)
  if (usual) return usual.href
  return onlyOne(side, kinds.template, {
    none: 'there is no template to make VMs of',
    noneHint: 'import an image: skerry template import FILE --name NAME',
    several: 'there are several templates, and none is called default',
    option: '--template',
  })
}
