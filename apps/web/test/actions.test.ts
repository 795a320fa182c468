import assert from 'node:assert/strict'
import { test } from 'node:test'

import { actionsOf, findAction } from '../src/model/actions.ts'
import { vmDetailsOf, vmRowOf } from '../src/model/vm.ts'

const href = 'https://cloud.example/api/vApp/vm-01980000-0000-7000-8000-000000000001'

test('links are actions, and what is unavailable has its reason in plain words', () => {
  const actions = actionsOf({
    link: [
      { rel: 'remove', href },
      { rel: 'power:powerOn', href: `${href}/power/action/powerOn` },
      { rel: 'down', href: `${href}/metadata` },
    ],
    unavailable: [
      { rel: 'power:shutdown', because: 'it is POWERED_OFF; this needs it POWERED_ON' },
    ],
  })
  assert.deepEqual(
    actions.map(({ name, method, unavailable }) => [name, method, unavailable]),
    [
      ['start', 'POST', undefined],
      ['shutdown', 'POST', 'it is off; this needs it on'],
      ['delete', 'DELETE', undefined],
    ],
  )
  assert.equal(findAction(actions, 'reset'), undefined)
})

test('a record of the query service is a row', () => {
  const row = vmRowOf({
    name: 'web-1',
    status: 'POWERED_ON',
    isBusy: false,
    containerName: 'web',
    numberOfCpus: 2,
    memoryMB: 4096,
    diskMB: 20_480,
    href,
  })
  assert.equal(row.id, 'vm-01980000-0000-7000-8000-000000000001')
  assert.equal(row.power, 'on')
  assert.equal(row.memoryMiB, 4096)
})

test('the document of a VM gives its hardware, address and snapshot', () => {
  const vm = vmDetailsOf({
    name: 'web-1',
    href,
    status: 8,
    link: [{ rel: 'up', href: 'https://cloud.example/api/vApp/vapp-1', name: 'web' }],
    virtualHardwareSection: {
      item: [
        { resourceType: 3, virtualQuantity: 2 },
        { resourceType: 4, virtualQuantity: 4096 },
        { resourceType: 17, virtualQuantity: 20_480 },
      ],
    },
    networkConnectionSection: {
      networkConnection: [
        {
          network: 'eng',
          networkConnectionIndex: 0,
          ipAddress: '10.0.0.5',
          isConnected: true,
          ipAddressAllocationMode: 'POOL',
        },
      ],
    },
    snapshotSection: {
      snapshot: { name: 'clean', created: '2026-11-15T12:00:00.000Z', poweredOn: false },
    },
  })
  assert.deepEqual([vm.power, vm.cpus, vm.memoryMiB, vm.diskMiB], ['off', 2, 4096, 20_480])
  assert.deepEqual([vm.address, vm.vapp, vm.snapshot?.name], ['10.0.0.5', 'web', 'clean'])
})
