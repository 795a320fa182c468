// Functions that create, compose, clone and deploy vApps.
import { inside, linkTo, query, quoted, vappIn, type Cloud } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'
import { UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, type Element } from '@skerry/xml'

import {
  carryOut,
  closed,
  cloudFunction,
  hrefOf,
  readVapp,
  reference,
  type FunctionRun,
} from './function.ts'
import { Named, Vapp } from './shapes.ts'

const Guest = Type.Object(
  {
    computerName: Type.Optional(Type.String()),
    sshKeys: Type.Optional(Type.Array(Type.String())),
    userData: Type.Optional(Type.String({ description: 'cloud-init user data.' })),
  },
  { ...closed, description: 'Guest customization for the first boot.' },
)
const Template = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Its name, id (`vappTemplate-…`) or URL.',
})
const Vdc = Type.Optional(
  Type.String({
    maxLength: 128,
    description: 'Name of the virtual data centre. Default: the first.',
  }),
)

function guestOf(guest: Static<typeof Guest> | undefined): Element | false {
  if (!guest) return false
  const { computerName, sshKeys = [], userData } = guest
  return element(
    'GuestCustomizationSection',
    {},
    computerName !== undefined && element('ComputerName', {}, computerName),
    ...sshKeys.map((key) => element('SshKey', {}, key)),
    userData !== undefined && element('UserData', {}, userData),
  )
}

/** The virtual data centre of this name, or the first. */
async function findVdc(
  { cloud, context }: FunctionRun,
  name: string | undefined,
): Promise<Element> {
  const org = await cloud.get(
    linkTo(await cloud.session(context.signal), 'down', 'org'),
    context.signal,
  )
  const vdc = childrenByLocalName(org, 'Link').find(
    (link) =>
      attribute(link, 'type')?.endsWith('.vdc+xml') &&
      (name === undefined || attribute(link, 'name') === name),
  )
  if (vdc) return cloud.get(attribute(vdc, 'href') ?? '', context.signal)
  throw new Fault('not-found', `vdc not found: ${name ?? 'none'}`.trim())
}

const ID = new RegExp(`^(.*/)?vappTemplate-${UUID}$`)

async function templateHref(cloud: Cloud, vdc: Element, template: string): Promise<string> {
  if (ID.test(template)) return `/api/vAppTemplate/${template.split('/').at(-1)}`
  const found = inside(vdc, 'ResourceEntities', 'ResourceEntity').find(
    (each) =>
      attribute(each, 'name') === template &&
      attribute(each, 'type')?.endsWith('.vAppTemplate+xml'),
  )
  const href = attribute(found, 'href') ?? (await searchTemplate(cloud, template))
  if (href !== undefined) return href
  throw new Fault('not-found', `template not found: ${template}`)
}

/** A vdc document lists only the first of its templates. */
async function searchTemplate(cloud: Cloud, name: string): Promise<string | undefined> {
  const filter = `name==${quoted(name)}`
  for await (const { href } of query(cloud, { type: 'vAppTemplate', filter, limit: 1 })) return href
  return undefined
}

/** Creates a vApp and returns it once its task has ended. */
async function createVapp(calling: FunctionRun, href: string, body: Element) {
  const answer = await carryOut(calling, 'POST', href, body)
  if (!answer) throw new Fault('unavailable', 'the cloud returned no vApp')
  return vappIn(await calling.cloud.get(attribute(answer, 'href') ?? '', calling.context.signal))
}

const Items = Type.Array(
  Type.Object(
    { template: Template, name: Type.Optional(Named), guest: Type.Optional(Guest) },
    closed,
  ),
  { maxItems: 128 },
)

const sourcedItems = (calling: FunctionRun, vdc: Element, items: Static<typeof Items>) =>
  Promise.all(
    items.map(async ({ template, name, guest }) =>
      element(
        'SourcedItem',
        {},
        element('Source', { name, href: await templateHref(calling.cloud, vdc, template) }),
        guestOf(guest),
      ),
    ),
  )

const actionHref = (vdc: Element, word: string): string =>
  `${attribute(vdc, 'href') ?? ''}/action/${word}`

export const making = {
  instantiate: cloudFunction({
    input: Type.Object(
      {
        name: Named,
        template: Template,
        vdc: Vdc,
        guest: Type.Optional(Guest),
        powerOn: Type.Optional(Type.Boolean({ description: 'Power it on. Default: true.' })),
      },
      closed,
    ),
    output: Vapp,
    doc: 'Creates a vApp from a template and powers it on by default.',
    async call(calling, { name, template, vdc: where, guest, powerOn = true }) {
      const vdc = await findVdc(calling, where)
      const href = await templateHref(calling.cloud, vdc, template)
      const body = element(
        'InstantiateVAppTemplateParams',
        { name, powerOn },
        element('Source', { href }),
        guestOf(guest),
      )
      return createVapp(calling, actionHref(vdc, 'instantiateVAppTemplate'), body)
    },
  }),
  compose: cloudFunction({
    input: Type.Object(
      { name: Named, vms: Items, vdc: Vdc, powerOn: Type.Optional(Type.Boolean()) },
      closed,
    ),
    output: Vapp,
    doc: 'Creates a vApp from any number of templates; powers it on if powerOn is true.',
    async call(calling, { name, vms, vdc: where, powerOn = false }) {
      const vdc = await findVdc(calling, where)
      const items = await sourcedItems(calling, vdc, vms)
      const body = element('ComposeVAppParams', { name, powerOn }, ...items)
      return createVapp(calling, actionHref(vdc, 'composeVApp'), body)
    },
  }),
  recompose: cloudFunction({
    input: Type.Object(
      {
        vapp: reference('vapp'),
        add: Type.Optional(Items),
        remove: Type.Optional(Type.Array(reference('vm'), { maxItems: 128 })),
      },
      closed,
    ),
    output: Vapp,
    doc: 'Adds VMs to a vApp and deletes VMs from it.',
    async call(calling, { vapp, add = [], remove = [] }) {
      const vdc = await findVdc(calling, undefined)
      const body = element(
        'RecomposeVAppParams',
        {},
        ...(await sourcedItems(calling, vdc, add)),
        ...remove.map((vm) => element('DeleteItem', { href: hrefOf('vm', vm) })),
      )
      await carryOut(calling, 'POST', `${hrefOf('vapp', vapp)}/action/recomposeVApp`, body)
      return readVapp(calling, vapp)
    },
  }),
  clone: cloudFunction({
    input: Type.Object({ vapp: reference('vapp'), name: Named, vdc: Vdc }, closed),
    output: Vapp,
    doc: 'Clones a vApp whose VMs are off; the clone is off too.',
    async call(calling, { vapp, name, vdc: where }) {
      const vdc = await findVdc(calling, where)
      const source = element('Source', { href: hrefOf('vapp', vapp) })
      return createVapp(
        calling,
        actionHref(vdc, 'cloneVApp'),
        element('CloneVAppParams', { name }, source),
      )
    },
  }),
  deploy: cloudFunction({
    input: Type.Object(
      {
        vapp: reference('vapp'),
        powerOn: Type.Optional(Type.Boolean()),
        leaseSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
      },
      closed,
    ),
    output: Vapp,
    doc: 'Powers on a vApp, optionally with a lease in seconds; 0 means no expiry.',
    async call(calling, { vapp, powerOn, leaseSeconds }) {
      const body = element('DeployVAppParams', { powerOn, deploymentLeaseSeconds: leaseSeconds })
      await carryOut(calling, 'POST', `${hrefOf('vapp', vapp)}/action/deploy`, body)
      return readVapp(calling, vapp)
    },
  }),
  undeploy: cloudFunction({
    input: Type.Object(
      {
        vapp: reference('vapp'),
        by: Type.Optional(
          Type.Union([Type.Literal('powerOff'), Type.Literal('suspend'), Type.Literal('shutdown')]),
        ),
      },
      closed,
    ),
    output: Vapp,
    doc: 'Stops a vApp by powerOff, suspend or shutdown (default: powerOff).',
    async call(calling, { vapp, by = 'powerOff' }) {
      const body = element('UndeployVAppParams', {}, element('UndeployPowerAction', {}, by))
      await carryOut(calling, 'POST', `${hrefOf('vapp', vapp)}/action/undeploy`, body)
      return readVapp(calling, vapp)
    },
  }),
}
