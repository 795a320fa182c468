// Goal: a guest accepts what the security groups of its labels allow, and labels take effect while it runs. Method: a lab with Open
// vSwitch, a cloud with a network server, and two guests of one network that boot.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import {
  reasonToSkip,
  reasonWithoutTemporal,
  startLab,
  until,
  type Lab,
  type LabHost,
} from '@skerry/lab'
import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { inDomain } from './in-guest.ts'

const skip =
  reasonToSkip('host', 'network', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
/** Generous: guests are emulated, two at a time on few cores. */
const BOOT_MS = 240_000

interface LabelledGuest {
  readonly href: string
  readonly domain: string
  readonly address: string
}

const stack = new AsyncDisposableStack()
let lab: Lab
let bob: CloudClient
let admin: CloudClient
let groups: string
let web: LabelledGuest
let client: LabelledGuest

async function logIn(who: {
  readonly user: string
  readonly org: string
  readonly password: string
}) {
  const { cloud } = lab
  assert.ok(cloud)
  const ca = readFileSync(cloud.ca, 'utf8')
  return CloudClient.logIn(cloud.url, ca, `${who.user}@${who.org}`, who.password)
}

async function start(name: string): Promise<LabelledGuest> {
  const made = await bob.instantiate(name)
  const task = await bob.ended(taskOf(made.root), BOOT_MS)
  assert.equal(attribute(task, 'status'), 'success', made.text)
  const vapp = await bob.get(attribute(made.root, 'href') ?? '')
  const [vm] = childrenByLocalName(childrenByLocalName(vapp, 'Children')[0], 'Vm')
  const [section] = childrenByLocalName(vm, 'NetworkConnectionSection')
  const [connection] = childrenByLocalName(section, 'NetworkConnection')
  const href = attribute(vm, 'href') ?? ''
  return {
    href,
    domain: `cloud-${href.slice(-36)}`,
    address: text(childrenByLocalName(connection, 'IpAddress')[0]) ?? '',
  }
}

const inside = ({ domain }: LabelledGuest, script: string) =>
  inDomain(lab.hosts[0] as LabHost, domain, script, BOOT_MS)

const label = async ({ href }: LabelledGuest, role: string | undefined) => {
  const body = `<MetadataValue><Value>${role}</Value></MetadataValue>`
  const at = `${href}/metadata/role`
  const { status, text: said } =
    role === undefined ? await bob.ask('DELETE', at) : await bob.ask('PUT', at, { body })
  assert.equal(status, 202, said)
}

/** Whether a new connection from the client to the SSH server of the web server is answered. */
const isAnswered = async () =>
  (await inside(client, `echo | nc -w 2 ${web.address} 22; true`)).includes('SSH-')
const isSilent = async () => !(await isAnswered())

/** How many echo replies the kernel of the client has received in all. */
const REPLIES =
  '$(awk \'/^Icmp:/ { if (!c) { for (i = 1; i <= NF; i++) if ($i == "InEchoReps") c = i } else print $c }\' /proc/net/snmp)'

/** How many replies to the ping that runs in the client come in four seconds. */
const echoes = async () =>
  Number(await inside(client, `a=${REPLIES}; sleep 4; b=${REPLIES}; echo $((b - a))`))

const send = async (method: 'POST' | 'PUT', where: string, inbound: string, name: string) => {
  const selector = `<Selector><Label><Key>role</Key><Value>${name}</Value></Label></Selector>`
  const body = `<SecurityGroup name="${name}">${selector}${inbound}</SecurityGroup>`
  const { status, text: said, root } = await admin.ask(method, where, { body })
  assert.ok(status === 200 || status === 201, said)
  return attribute(root, 'href') ?? ''
}

const SSH =
  '<Rule><Protocol>tcp</Protocol><PortRange>22</PortRange><PeerGroup name="client"/></Rule>'
const PING = '<Rule><Protocol>icmp</Protocol></Rule>'

suite('security groups', { skip }, () => {
  before(async () => {
    const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'groups-')))
    lab = stack.use(await startLab({ dir: join(path, 'l'), hosts: 1, cells: 1, network: true }))
    const { cloud } = lab
    const [tenant] = cloud?.tenants ?? []
    assert.ok(cloud && tenant)
    bob = await logIn(tenant)
    admin = await logIn(cloud.admin)
    const [org] = childrenByLocalName(await bob.get('/api/org'), 'Org')
    groups = `/api/admin/org/${attribute(org, 'href')?.slice(-36)}/securityGroups`
    web = await start('web')
    client = await start('client')
    await until('the guests reach each other', isAnswered, BOOT_MS)
    await inside(client, `ping ${web.address} > /dev/null 2>&1 &`)
  })
  after(() => stack.disposeAsync())

  test('a label closes a guest, a rule for a peer opens it to the guests of a group, and without the label it is open', async () => {
    await send('POST', groups, '', 'client')
    const group = await send('POST', groups, `<Inbound>${SSH}${PING}</Inbound>`, 'web')
    await until('the guest is open: none has a label yet', isAnswered, BOOT_MS)
    await label(web, 'web')
    await until('the client is not let in', isSilent, BOOT_MS)
    await until('what a rule allows to anybody passes', async () => (await echoes()) > 0, BOOT_MS)
    await label(client, 'client')
    await until('the client is let in by its label', isAnswered, BOOT_MS)
    await label(client, undefined)
    await until('the client is not let in without it', isSilent, BOOT_MS)
    await send('PUT', group, '<Inbound/>', 'web')
    await until('a ping that began before is blocked', async () => (await echoes()) === 0, BOOT_MS)
    const isReplied = async () =>
      (await inside(web, `ping -c 2 -W 5 ${client.address}`)).includes('2 packets received')
    await until('replies to what it sends itself pass', isReplied, BOOT_MS)
    await label(web, undefined)
    await until('the guest is open without its label', isAnswered, BOOT_MS)
    await until('the ping is answered again', async () => (await echoes()) > 0, BOOT_MS)
  })
})
