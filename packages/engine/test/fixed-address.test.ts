// Goal: a VM that comes from another host keeps its address if possible, and never has one of another VM.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'
import type { VmId } from '@skerry/vm'

import { macOf } from '../src/domain/mac.ts'
import { fixedAddressesDirectory } from '../src/host/paths.ts'
import { keepAddress } from '../src/network/fixed-address.ts'
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
