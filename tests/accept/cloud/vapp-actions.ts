// Every action of a vApp on its two guests, found by its link; the screen links of each status; what 1.5 omits.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { guestImage, until, untilOpen } from '@skerry/lab'
import { attribute, text } from '@skerry/xml'

import type { DesiredPower } from '../../../apps/cloud/src/domain/vm-status.ts'
import { operations } from '../../../apps/cloud/src/operations/vm-operations.ts'
import { taskOf, type CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import { exampleText } from '../../../apps/cloud/test/example-text.ts'
import { callerOf, wordsOfError } from './curl.ts'
import { RUNNING } from './flow.ts'
import { SHARED, type Ledger } from './links.ts'
import {
  domainOf,
  inGuest,
  kernelOf,
  logIn,
  nodesIn,
  skip,
  stateOf,
  tenant,
  there,
  untilAnotherKernel,
  vmsOf,
  wordOf,
  type Domain,
} from './place.ts'
import { PAIR } from './queries.ts'

/** A VM of a disconnected host is UNKNOWN within this time. */
const UNKNOWN_MS = 60_000
/** More than any machine has. */
const TOO_MUCH = '900000000'

async function named(client: CloudClient, name: string): Promise<string> {
  const root = await client.get(`/api/query?type=vApp&filter=name==${name}&fields=name`)
  return attribute(nodesIn(root, 'VAppRecord')[0], 'href') ?? ''
}

const relsOf = async (client: CloudClient, href: string): Promise<readonly string[]> =>
  nodesIn(await client.get(href), 'Link').map((each) => attribute(each, 'rel') ?? '')

/** The actions of vApps that no test has followed so far, with the statuses in which their operations are allowed. */
function* notFollowed({ followed }: Ledger) {
  for (const { action, from, to, forVapp, takes } of operations) {
    if (!action || 'none' in forVapp) continue
    for (const status of ['POWERED_OFF', 'POWERED_ON', 'SUSPENDED'] as const) {
      const { rel } = action
      if (!from.includes(status) || followed.has(`VApp ${status} ${rel}`)) continue
      yield { status, rel, to: to ?? status, body: takes && exampleText(takes) }
    }
  }
}

export function testVappActions(ledger: Ledger): void {
  let client: CloudClient
  let vapp: string
  let vms: readonly string[]
  let domains: readonly Domain[]
  const act = (rel: string, body?: string) => ledger.act(client, vapp, rel, body)
  const share = () => ledger.follow(client, vapp, 'controlAccess', { body: SHARED })
  const show = async (word: string, state: string) => {
    assert.equal(await wordOf(client, vapp), word)
    for (const vm of vms) assert.equal(await wordOf(client, vm), word)
    for (const domain of domains) assert.equal(await stateOf(domain), state)
  }
  const kernels = () => Promise.all(domains.map(kernelOf))
  const marks = (word: string) =>
    Promise.all(domains.map((domain) => inGuest(domain, `echo ${word} >/tmp/mark`)))
  const marked = () => Promise.all(domains.map((domain) => inGuest(domain, 'cat /tmp/mark')))

  const bring = async (status: DesiredPower): Promise<void> => {
    const now = await wordOf(client, vapp)
    if (now === status) return
    if (status !== 'POWERED_OFF' && now !== 'POWERED_ON') await act('power:powerOn')
    if (status === 'SUSPENDED') await act('power:suspend')
    if (status === 'POWERED_OFF') await act(now === 'SUSPENDED' ? 'discardState' : 'power:powerOff')
    assert.equal(await wordOf(client, vapp), status)
  }

  test('a vApp of two VMs: started, MIXED with one off, reset, rebooted', { skip }, async (t) => {
    client = await logIn(tenant())
    vapp = await named(client, PAIR)
    vms = await vmsOf(client, vapp)
    domains = await Promise.all(vms.map(domainOf))
    t.diagnostic(`its VMs are on ${new Set(domains.map(({ host }) => host.name)).size} hosts`)
    await act('edit', `<VApp name="${PAIR} of them"/>`)
    const [left = ''] = vms
    await ledger.act(client, left, 'power:powerOn')
    assert.equal(await wordOf(client, vapp), 'MIXED')
    assert.equal(attribute(await client.get(vapp), 'status'), '10')
    await ledger.act(client, left, 'power:powerOff')
    await act('power:powerOn')
    await show('POWERED_ON', 'running')
    // Before their kernels are up: the effect of a reset is tested on one VM.
    await act('power:reset')
    const first = await kernels()
    await act('power:reboot')
    await Promise.all(domains.map((domain, at) => untilAnotherKernel(domain, first[at] ?? '')))
    await act('edit', `<VApp name="${PAIR}"/>`)
    await share()
  })

  test(
    'a vApp snapshot is one per VM, with memory, and reverts all of them',
    { skip },
    async () => {
      await marks('first')
      await act('snapshot:create', '<CreateSnapshotParams name="both" memory="true"/>')
      for (const vm of vms) {
        const [kept] = nodesIn(await client.get(`${vm}/snapshotSection`), 'Snapshot')
        assert.deepEqual([attribute(kept, 'name'), attribute(kept, 'poweredOn')], ['both', 'true'])
      }
      await marks('second')
      await act('snapshot:revertToCurrent')
      await show('POWERED_ON', 'running')
      assert.deepEqual(await marked(), ['first', 'first'])
    },
  )

  test(
    'a vApp is suspended and resumed, shut down, or its suspended state is discarded',
    { skip },
    async () => {
      await act('power:suspend')
      await show('SUSPENDED', 'shut off')
      await act('edit', `<VApp name="${PAIR} asleep"/>`)
      await act('recompose', '<RecomposeVAppParams/>')
      await share()
      await act('snapshot:removeAll')
      await act('power:powerOn')
      assert.deepEqual(await marked(), ['first', 'first'])
      await act('snapshot:create', '<CreateSnapshotParams memory="false"/>')
      await act('snapshot:removeAll')
      await act(
        'undeploy',
        '<UndeployVAppParams><UndeployPowerAction>suspend</UndeployPowerAction></UndeployVAppParams>',
      )
      await show('SUSPENDED', 'shut off')
      await act('deploy')
      await show('POWERED_ON', 'running')
      await act('power:shutdown')
      await show('POWERED_OFF', 'shut off')
      await act('deploy', '<DeployVAppParams/>')
      await act('power:suspend')
      await act('discardState')
      await show('POWERED_OFF', 'shut off')
    },
  )

  test(
    'a vApp that is off: snapshot, revert, recompose; a running one cannot be deleted',
    { skip },
    async () => {
      await act('snapshot:create', '<CreateSnapshotParams name="off"/>')
      await act('snapshot:revertToCurrent')
      await show('POWERED_OFF', 'shut off')
      await act('snapshot:removeAll')
      await act('recompose', '<RecomposeVAppParams/>')
      await share()
      await act('power:powerOn')
      await act('recompose', '<RecomposeVAppParams/>')
      assert.equal((await client.ask('DELETE', vapp)).status, 409, 'it runs')
      await act('power:powerOff')
      await show('POWERED_OFF', 'shut off')
    },
  )

  test(
    'every other action of a vApp is accepted in each status that links it, and leads to the declared one',
    { skip },
    async () => {
      for (const { status, rel, to, body } of notFollowed(ledger)) {
        await bring(status)
        if (!(await relsOf(client, vapp)).includes(rel)) continue
        await act(rel, body)
        assert.equal(await wordOf(client, vapp), to)
      }
      await bring('POWERED_OFF')
    },
  )

  test(
    '1.5 has neither the nested switch nor reconfigure, and rejects them; it has snapshots',
    { skip },
    async () => {
      const old = await logIn(tenant(), '1.5')
      const caller = await callerOf(tenant(), '1.5')
      const young = /^(enable|disable|reconfigureVm)$/
      const running = await named(client, RUNNING)
      for (const href of [vapp, running, ...vms, ...(await vmsOf(client, running))]) {
        const rels = await relsOf(client, href)
        assert.deepEqual(
          await relsOf(old, href),
          rels.filter((rel) => !young.test(rel)),
        )
        const { text: said } = await old.ask('GET', href)
        assert.doesNotMatch(said, /nestedHypervisorEnabled/)
        assert.match(said, /SnapshotSection/)
        for (const action of [
          'reconfigureVm',
          'enableNestedHypervisor',
          'disableNestedHypervisor',
        ]) {
          const said = await caller.ask('POST', `${href}/action/${action}`)
          assert.match(wordsOfError(said, 406, 'NOT_ACCEPTABLE', '1.5'), /5\.1/, action)
        }
        const section = await caller.ask('GET', `${href}/snapshotSection`)
        assert.equal(section.status, 200)
      }
    },
  )

  test(
    'a vApp that is off is deleted with its VMs, and nothing of it remains on its hosts',
    { skip },
    async () => {
      await act('remove')
      assert.equal((await client.ask('GET', vapp)).status, 404)
      for (const { host, name } of domains) {
        assert.notEqual((await host.run(['virsh', 'domstate', name])).code, 0)
        const id = name.slice(-36)
        const found = ['find', '/var/lib/skerry', '-name', '*.qcow2', '-path', `*${id}*`]
        assert.equal((await host.run(found)).stdout, '')
      }
    },
  )
}

/** POWERED_OFF, SUSPENDED and UNRESOLVED are tested where VMs have these states anyway: vm-actions.ts. */
export function testTickets(ledger: Ledger): void {
  test(
    'the ticket’s link exists exactly while a VM is POWERED_ON: not while UNKNOWN, nor after a failed creation',
    { skip },
    async (t) => {
      const { cloud } = there()
      const client = await logIn(tenant())
      const [vm = ''] = await vmsOf(client, await named(client, RUNNING))
      const ticket = async (href: string) => {
        const linked = (await relsOf(client, href)).includes('screen:acquireTicket')
        const { status, root } = await client.ask('POST', `${href}/screen/action/acquireTicket`)
        return { linked, status, text: text(root) }
      }
      const given = await ledger.follow(client, vm, 'screen:acquireTicket')
      assert.match(text(given.root) ?? '', /^mks:/)
      assert.equal((await ticket(vm)).status, 200)

      const { host } = await domainOf(vm)
      await host.killVmd()
      const began = performance.now()
      await until('UNKNOWN', async () => (await wordOf(client, vm)) === 'UNKNOWN', UNKNOWN_MS)
      t.diagnostic(`UNKNOWN ${Math.round(performance.now() - began)} ms after vmd was killed`)
      const away = await ticket(vm)
      assert.deepEqual([away.linked, away.status], [false, 409])
      await host.startVmd()
      await untilOpen(cloud.postgres, [host.name])
      await until('seen again', async () => (await wordOf(client, vm)) === 'POWERED_ON', UNKNOWN_MS)
      const back = await ticket(vm)
      assert.deepEqual([back.linked, back.status], [true, 200])

      const big = ['--org', tenant().org, '--name', 'huge', '--memory', TOO_MUCH]
      await cloud.administer(['template', 'import', await guestImage('small'), ...big])
      const [entities] = nodesIn(await client.get(tenant().vdc), 'ResourceEntities')
      const huge = nodesIn(entities, 'ResourceEntity').find(
        (each) => attribute(each, 'name') === 'huge',
      )
      const item = (name: string) =>
        `<SourcedItem><Source href="${attribute(huge, 'href')}" name="${name}"/></SourcedItem>`
      const body = `<ComposeVAppParams name="huge" powerOn="true">${item('a')}${item('b')}</ComposeVAppParams>`
      const made = await ledger.follow(client, tenant().vdc, 'add', { body, end: 'composeVApp' })
      const task = await client.ended(taskOf(made.root))
      assert.equal(attribute(task, 'status'), 'error')
      assert.match(attribute(nodesIn(task, 'Error')[0], 'message') ?? '', /room/)
      const vapp = attribute(made.root, 'href') ?? ''
      const [failed = '', other = ''] = await vmsOf(client, vapp)
      for (const each of [failed, other]) {
        assert.equal(await wordOf(client, each), 'FAILED_CREATION')
        const none = await ticket(each)
        assert.deepEqual([none.linked, none.status], [false, 409])
      }
      await ledger.act(client, vapp, 'edit', '<VApp name="never"/>')
      await ledger.act(client, vapp, 'recompose', '<RecomposeVAppParams/>')
      await ledger.follow(client, vapp, 'controlAccess', { body: SHARED })
      await ledger.act(client, failed, 'edit', '<Vm name="nothing"/>')
      await ledger.act(client, failed, 'remove')
      await ledger.act(client, vapp, 'remove')
    },
  )
}
