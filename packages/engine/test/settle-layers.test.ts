// Goal: lower layers left by a crashed clone are removed, and never before the definition drops them.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'

import { qemuImg } from '../../image/test/qemu-img.ts'
import { settleLayers } from '../src/disk/settle-layers.ts'
import { findVm } from '../src/domain/find-domain.ts'
import { lifeDirectory } from '../src/host/paths.ts'
import { createVm } from '../src/vm/create.ts'
import { startEmulatedHost } from './emulated-host.ts'

test('layers that are no longer part of a disk are removed, and no others', async (t) => {
  const reason = reasonToSkip('host')
  if (reason !== undefined) return t.skip(reason)
  await using emulated = await startEmulatedHost()
  const { host } = emulated
  await createVm(host, { id: 'vm' })
  const found = await findVm(host, 'vm')
  const directory = lifeDirectory(host.paths, found.record)
  const layers = async () => (await readdir(directory)).filter((name) => name.startsWith('layer'))
  const definition = async () =>
    (await host.link.call(libvirt.domainGetXmlDesc, { dom: found.dom, flags: 0 })).xml

  await settleLayers(host, found, 'off')
  assert.deepEqual(new Set(await layers()), new Set(['layer-0.qcow2', 'layer-1.qcow2']))

  await qemuImg('rebase', '-q', '-f', 'qcow2', '-b', '', join(directory, 'layer-1.qcow2'))
  await settleLayers(host, found, 'on')
  assert.equal((await layers()).length, 2, 'the definition still names both')
  await settleLayers(host, found, 'suspended')
  assert.equal((await layers()).length, 2)

  await settleLayers(host, found, 'off')
  assert.deepEqual(await layers(), ['layer-1.qcow2'])
  assert.doesNotMatch(await definition(), /layer-0/)
})
