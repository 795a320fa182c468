// Goal: a libvirt that accepts connections but does not work is detected within seconds. Method: a real libvirtd, stopped and continued.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as libvirt from '@skerry/libvirt'

import { probeDefine } from '../src/domain/probe-define.ts'
import { startEmulatedHost } from './emulated-host.ts'

/** The probe gives libvirt 5 s; the machine may be busy. */
const NOTICED_MS = 10_000

test('a libvirtd that hangs is reported, and not when it works again', async () => {
  await using made = await startEmulatedHost()
  const { host, libvirt: daemon } = made
  const probes = async () => {
    const { domains } = await host.link.call(libvirt.connectListAllDomains, {
      needResults: 1,
      flags: 0,
    })
    return domains.filter(({ name }) => name === 'skerry-probe').length
  }
  assert.equal(await probeDefine(host), undefined)
  assert.equal(await probes(), 0, 'the probe is removed')
  process.kill(daemon.pid, 'SIGSTOP')
  try {
    assert.ok(host.link.isOpen, 'its socket is still open')
    const began = performance.now()
    const [first, second] = await Promise.all([probeDefine(host), probeDefine(host)])
    assert.match(first ?? '', /^libvirt accepts connections but .* within 5 s; .*restart it/)
    assert.equal(second, first)
    assert.ok(performance.now() - began < NOTICED_MS)
  } finally {
    process.kill(daemon.pid, 'SIGCONT')
  }
  // The hanging probe ends now; the next one starts a new query.
  await probeDefine(host)
  assert.equal(await probeDefine(host), undefined)
  assert.equal(await probes(), 0)
})
