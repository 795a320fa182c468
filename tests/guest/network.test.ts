// Goal: a network defined by an older version is replaced by the current one, and no guest loses its network by that. Method: the
// old network, created manually in a real libvirtd, with and without a guest on it.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, type LabHost } from '@skerry/lab'

import { startEngine } from './engine.ts'

const skip = reasonToSkip('host', 'small') ?? false
const UUID = '5ce3a2d0-41f6-4b52-9b0e-0d3bb1c9a111'
const OLD = `<network><name>skerry</name><uuid>${UUID}</uuid><forward mode="nat"/><bridge name="skerry0" stp="off" delay="0"/>
  <ip address="10.83.0.1" netmask="255.255.0.0"><dhcp><range start="10.83.0.16" end="10.83.31.254"/></dhcp></ip></network>`

let dir: string
let host: LabHost

/** Runs commands as an operator would; every line must succeed. */
async function sh(script: string): Promise<string> {
  const { code, stdout, stderr } = await host.run(['sh', '-ec', script])
  assert.equal(code, 0, stderr)
  return stdout
}

const layOldNetwork = () =>
  sh(`virsh -q net-destroy skerry; virsh -q net-undefine skerry
    echo '${OLD}' >/run/old.xml; virsh -q net-define /run/old.xml; virsh -q net-start skerry`)
const keepsAddresses = async (...words: readonly string[]) =>
  (await sh(`virsh net-dumpxml skerry ${words.join(' ')}`)).includes('dhcp-hostsdir=')
const bridge = () => sh('cat /sys/class/net/skerry0/ifindex')

suite('a network of an older version', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'network-'))
    host = await startHost({ dir: join(dir, 'host') })
    await using engine = await startEngine(host)
    await engine.importTemplate('default', await guestImage('small'))
    await engine.createVm({ id: 'guest', memoryMiB: 128 })
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('is replaced if no guest is on it, and then left alone', async () => {
    await layOldNetwork()
    assert.equal(await keepsAddresses(), false)
    {
      await using engine = await startEngine(host)
      assert.equal(engine.log(), '')
    }
    assert.deepEqual([await keepsAddresses(), await keepsAddresses('--inactive')], [true, true])
    assert.equal((await sh('virsh net-uuid skerry')).trim(), UUID)
    const before = await bridge()
    {
      await using _ = await startEngine(host)
    }
    assert.equal(await bridge(), before, 'it was not restarted')
  })

  test('stays under a running guest, which is logged, and is replaced once there is none', async () => {
    await layOldNetwork()
    await sh('virsh -q start local-guest')
    const before = await bridge()
    {
      await using engine = await startEngine(host)
      assert.match(
        engine.log(),
        /was defined by an older version and cannot be updated while local-guest run/,
      )
      assert.equal(await engine.readPower('guest'), 'on')
      assert.equal(await bridge(), before)
      assert.deepEqual([await keepsAddresses(), await keepsAddresses('--inactive')], [false, true])
      await engine.changePower('guest', 'off')
    }
    {
      await using engine = await startEngine(host)
      assert.equal(engine.log(), '')
    }
    assert.equal(await keepsAddresses(), true)
  })
})
