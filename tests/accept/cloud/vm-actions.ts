// Every action of a VM on a guest that boots, found by its link: the effect is checked in libvirt and inside the guest.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { until } from '@skerry/lab'
import { attribute, text, type Element } from '@skerry/xml'

import { taskOf, type CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import type { Ledger } from './links.ts'
import {
  domainOf,
  inGuest,
  kernelOf,
  logIn,
  nodesIn,
  skip,
  stateOf,
  tenant,
  untilAnotherKernel,
  vmsOf,
  wordOf,
  type Domain,
} from './place.ts'

/** The vApp of the tested VM. */
const WORKED = 'worked'

const byUndeploy = (word: string) =>
  `<UndeployVAppParams><UndeployPowerAction>${word}</UndeployPowerAction></UndeployVAppParams>`

const snapshotOf = (document: Element): Element | undefined =>
  nodesIn(nodesIn(document, 'SnapshotSection')[0], 'Snapshot')[0]

/** The features that the guest sees in its processor. */
const nestedIn = (domain: Domain) =>
  inGuest(domain, 'grep -qw svm /proc/cpuinfo && echo svm=1 || echo svm=0')

/** In memory only: lost with the guest's kernel. */
const mark = (domain: Domain, word: string) => inGuest(domain, `echo ${word} >/tmp/mark`)
const marked = (domain: Domain) => inGuest(domain, 'cat /tmp/mark')

export function testVmActions(ledger: Ledger): void {
  let client: CloudClient
  let vapp: string
  let vm: string
  let domain: Domain
  const act = (rel: string, body?: string, end?: string) => ledger.act(client, vm, rel, body, end)
  const shows = async (word: string, state: string) => {
    assert.equal(await wordOf(client, vm), word)
    assert.equal(await stateOf(domain), state)
  }
  const shown = async (rel: string) =>
    nodesIn(await client.get(vm), 'Link').some((each) => attribute(each, 'rel') === rel)

  test(
    'a VM that is being created has no screen yet; one that is off can be changed',
    { skip },
    async () => {
      client = await logIn(tenant())
      const body = `<InstantiateVAppTemplateParams name="${WORKED}" powerOn="false"><Source href="${tenant().template}"/></InstantiateVAppTemplateParams>`
      const made = await ledger.follow(client, tenant().vdc, 'add', {
        body,
        end: 'instantiateVAppTemplate',
      })
      assert.equal(made.status, 201)
      assert.equal(made.headers['location'], attribute(made.root, 'href'))
      vapp = attribute(made.root, 'href') ?? ''
      const [child] = nodesIn(nodesIn(made.root, 'Children')[0], 'Vm')
      vm = attribute(child, 'href') ?? ''
      assert.equal(attribute(child, 'status'), '0', 'UNRESOLVED')
      const screens = nodesIn(child, 'Link')
        .map((each) => attribute(each, 'rel') ?? '')
        .filter((rel) => rel.startsWith('screen:'))
      assert.deepEqual(screens, ['screen:thumbnail'])
      assert.equal((await client.ask('POST', `${vm}/screen/action/acquireTicket`)).status, 409)
      assert.equal(attribute(await client.ended(taskOf(made.root)), 'status'), 'success')
      domain = await domainOf(vm)
      await shows('POWERED_OFF', 'shut off')

      await act('edit', '<Vm name="renamed"/>')
      await act('reconfigureVm', hardware(160))
      const after = await client.get(vm)
      assert.equal(attribute(after, 'name'), 'renamed')
      const { stdout } = await domain.host.run(['virsh', '-q', 'dominfo', domain.name])
      assert.match(stdout, /Max memory: +163840 KiB/)
      assert.equal(await shown('screen:acquireTicket'), false)
    },
  )

  test('a snapshot of a VM that is off is taken, reverted to and removed', { skip }, async () => {
    await act('snapshot:create', '<CreateSnapshotParams name="asleep"/>')
    const kept = snapshotOf(await client.get(vm))
    assert.deepEqual([attribute(kept, 'name'), attribute(kept, 'poweredOn')], ['asleep', 'false'])
    const section = await client.get(`${vm}/snapshotSection`)
    assert.equal(attribute(nodesIn(section, 'Snapshot')[0], 'name'), 'asleep')
    const again = await act('snapshot:create')
    assert.match(text(nodesIn(again, 'Details')[0]) ?? '', /replaced the snapshot asleep/)
    await act('snapshot:revertToCurrent')
    await shows('POWERED_OFF', 'shut off')
    await act('snapshot:removeAll')
    assert.equal(snapshotOf(await client.get(vm)), undefined)
    assert.equal(await shown('snapshot:removeAll'), false)
    const none = await client.ask('POST', `${vm}/action/revertToCurrentSnapshot`)
    assert.equal(none.status, 409)
  })

  test(
    'the nested switch takes effect in the guest: svm=1 after it was turned on, svm=0 after it was turned off',
    { skip },
    async (t) => {
      const switched = await act('enable')
      assert.equal(attribute(switched, 'operationName'), 'vappUpdateVm')
      assert.equal(attribute(await client.get(vm), 'nestedHypervisorEnabled'), 'true')
      assert.deepEqual([await shown('enable'), await shown('disable')], [false, true])
      const again = await client.ask('POST', `${vm}/action/enableNestedHypervisor`)
      assert.equal(again.status, 202, 'repeating it succeeds')
      assert.equal(attribute(await client.ended(taskOf(again.root)), 'status'), 'success')

      await act('power:powerOn')
      const began = performance.now()
      const inside = await nestedIn(domain)
      t.diagnostic(
        `the guest is up ${Math.round(performance.now() - began)} ms after the task ended`,
      )
      assert.equal(inside, 'svm=1')
      await shows('POWERED_ON', 'running')
      assert.deepEqual([await shown('enable'), await shown('disable')], [false, false])
      assert.equal((await client.ask('POST', `${vm}/action/disableNestedHypervisor`)).status, 409)

      await act('power:shutdown')
      await shows('POWERED_OFF', 'shut off')
      await act('disable')
      assert.equal(attribute(await client.get(vm), 'nestedHypervisorEnabled'), 'false')
      await act('deploy', '<DeployVAppParams powerOn="true"/>')
      assert.equal(await nestedIn(domain), 'svm=0')
    },
  )

  test(
    'reset and reboot start another kernel; suspend and powerOn continue the same one',
    { skip },
    async () => {
      await act('edit', '<Vm name="again"/>')
      const first = await kernelOf(domain)
      await act('power:reset')
      const second = await untilAnotherKernel(domain, first)
      await act('power:reboot')
      await untilAnotherKernel(domain, second)
      await shows('POWERED_ON', 'running')

      await mark(domain, 'kept')
      await act('power:suspend')
      await shows('SUSPENDED', 'shut off')
      assert.equal(await shown('screen:acquireTicket'), false)
      assert.equal((await client.ask('POST', `${vm}/screen/action/acquireTicket`)).status, 409)
      await act('edit', '<Vm name="asleep"/>')
      await act('power:powerOn')
      assert.equal(await marked(domain), 'kept')
      // A VM that libvirt has paused, as for a full disk, is shown the same way, and resumes with the same action.
      await domain.host.run(['virsh', 'suspend', domain.name])
      await untilWord('SUSPENDED')
      assert.equal((await client.ask('POST', `${vm}/screen/action/acquireTicket`)).status, 409)
      await act('deploy')
      await shows('POWERED_ON', 'running')
      assert.equal(await marked(domain), 'kept')
    },
  )

  test(
    'a snapshot with memory restores a running guest, one without memory a VM that is off; a suspended state is discarded',
    { skip },
    async () => {
      await mark(domain, 'first')
      await act('snapshot:create', '<CreateSnapshotParams name="awake" memory="true"/>')
      assert.equal(attribute(snapshotOf(await client.get(vm)), 'poweredOn'), 'true')
      await mark(domain, 'second')
      await act('snapshot:revertToCurrent')
      await shows('POWERED_ON', 'running')
      assert.equal(await marked(domain), 'first')
      await act('snapshot:removeAll')
      const kernel = await kernelOf(domain)
      await act('snapshot:create', '<CreateSnapshotParams memory="false"/>')
      assert.equal(await kernelOf(domain), kernel, 'it never stopped')
      assert.equal(attribute(snapshotOf(await client.get(vm)), 'poweredOn'), 'false')

      await act('undeploy', byUndeploy('suspend'))
      await shows('SUSPENDED', 'shut off')
      await act('snapshot:removeAll')
      await act('discardState')
      await shows('POWERED_OFF', 'shut off')
      await act('deploy')
      assert.notEqual(await kernelOf(domain), kernel, 'it booted')
      await act('snapshot:create', '<CreateSnapshotParams memory="false"/>')
      await act('undeploy', byUndeploy('shutdown'))
      await shows('POWERED_OFF', 'shut off')
      await act('deploy')
      await act('snapshot:revertToCurrent')
      await shows('POWERED_OFF', 'shut off')
    },
  )

  test('deploy and undeploy, with each power action', { skip }, async () => {
    const idle = await ledger.follow(client, vm, 'deploy', {
      body: '<DeployVAppParams powerOn="false"/>',
    })
    assert.equal(attribute(await client.ended(taskOf(idle.root)), 'status'), 'success')
    await shows('POWERED_OFF', 'shut off')
    for (const word of ['powerOff', 'force', 'default']) {
      await act('deploy')
      await shows('POWERED_ON', 'running')
      await act('undeploy', byUndeploy(word))
      await shows('POWERED_OFF', 'shut off')
    }
    await act('power:powerOn')
    await act('power:powerOff')
    await shows('POWERED_OFF', 'shut off')
  })

  test(
    'a VM is deleted while off, another while suspended; a running one cannot be deleted',
    { skip },
    async () => {
      const item = (name: string) =>
        `<SourcedItem><Source href="${tenant().template}" name="${name}"/></SourcedItem>`
      const body = `<RecomposeVAppParams>${item('second')}${item('third')}</RecomposeVAppParams>`
      await ledger.act(client, vapp, 'recompose', body)
      await act('remove')
      assert.equal((await client.ask('GET', vm)).status, 404)
      assert.notEqual((await domain.host.run(['virsh', 'domstate', domain.name])).code, 0)
      const [second = '', third = ''] = await vmsOf(client, vapp)
      vm = second
      await act('power:powerOn')
      assert.equal(await shown('remove'), false)
      assert.equal((await client.ask('DELETE', vm)).status, 409)
      await act('power:suspend')
      await act('remove')
      assert.deepEqual(await vmsOf(client, vapp), [third])
      vm = third
      await act('power:powerOn')
      await act('power:suspend')
      await ledger.act(client, vapp, 'remove')
      assert.equal((await client.ask('GET', vapp)).status, 404)
    },
  )

  async function untilWord(word: string): Promise<void> {
    const is = async () => (await wordOf(client, vm)) === word
    await until(`it is ${word}`, is, 30_000)
  }
}

/** The hardware of a VM as in its document, with other memory. */
const hardware = (memoryMiB: number) =>
  `<Vm><VirtualHardwareSection><Item><ResourceType>4</ResourceType><VirtualQuantity>${memoryMiB}</VirtualQuantity></Item></VirtualHardwareSection></Vm>`
