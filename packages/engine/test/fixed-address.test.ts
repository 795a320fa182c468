// Goal: a VM that comes from another host keeps its address if possible, and never has one of another VM;
// entries of the DHCP server match the VMs, whatever happens at the same time.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'
import type { VmId } from '@skerry/vm'

import { macOf } from '../src/domain/mac.ts'
import { fixedAddressesDirectory } from '../src/host/paths.ts'
import { keepAddress, settleAddresses } from '../src/network/fixed-address.ts'
import { deleteVm } from '../src/recover/delete.ts'
import { createVm } from '../src/vm/create.ts'
import { startEmulatedHost } from './emulated-host.ts'

test('an arriving VM keeps its address if it is free, and gets another if it is not', async (t) => {
  const reason = reasonToSkip('host')
  if (reason !== undefined) return t.skip(reason)
  await using emulated = await startEmulatedHost()
  const { host } = emulated
  await createVm(host, { id: 'here' })
  const here = host.records.get('here')
  assert.match(here?.address ?? '', /^10\.83\./)
  assert.ok(here)
  const lineOf = (uuid: string) => readFile(join(fixedAddressesDirectory(host.paths), uuid), 'utf8')

  const free = { ...here, id: 'free' as VmId, uuid: randomUUID(), address: '10.83.255.7' }
  assert.equal((await keepAddress(host, free)).address, '10.83.255.7')
  assert.equal(await lineOf(free.uuid), `${macOf(free.uuid)},10.83.255.7\n`)

  const taken = { ...here, id: 'taken' as VmId, uuid: randomUUID() }
  const { address = '' } = await keepAddress(host, taken)
  assert.match(address, /^10\.83\./)
  assert.notEqual(address, here.address)
  assert.equal(await lineOf(taken.uuid), `${macOf(taken.uuid)},${address}\n`)
})

test('entries are restored and removed while VMs are created and deleted', async (t) => {
  const reason = reasonToSkip('host')
  if (reason !== undefined) return t.skip(reason)
  await using emulated = await startEmulatedHost()
  const { host } = emulated
  const entries = () => readdir(fixedAddressesDirectory(host.paths))
  await createVm(host, { id: 'stays' })
  const work = { isOver: false }
  const settling = (async () => {
    while (!work.isOver) await settleAddresses(host)
  })()
  try {
    for (let round = 0; round < 20; round++) {
      await createVm(host, { id: 'brief' })
      const both = host.records.all().map(({ uuid }) => uuid)
      assert.deepEqual((await entries()).sort(), both.sort())
      await deleteVm(host, 'brief')
    }
  } finally {
    work.isOver = true
    await settling
  }
  assert.deepEqual(await entries(), [host.records.get('stays')?.uuid])
})
