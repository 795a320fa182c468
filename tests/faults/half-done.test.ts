// Goal: every intermediate state that a crash can leave is repaired. Method: create each state manually, exactly as the crash
// would, since random kills hit some of them once in a thousand times; then start an engine.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, after, describe, it } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine, type RemoteEngine } from '../guest/engine.ts'
import { leftovers } from './leftovers.ts'
import { assertInOrder } from './storm.ts'

const reason = reasonToSkip('host', 'small')
const LIFE = '/var/lib/skerry/vms/vm.vm/1'
const PATTERN = '0x5a 52M 1M'
/** A pid beyond the kernel's maximum. */
const GONE = '4194305'

describe('interrupted work', { skip: reason ?? false }, () => {
  let dir = ''
  let host: LabHost

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'half-'))
    host = await startHost({ dir })
    await withEngine(async (engine) => {
      await engine.importTemplate('default', await guestImage('small'))
    })
  })

  after(async () => {
    await host.powerCut()
    await rm(dir, { recursive: true, force: true })
  })

  it('a layer that QEMU writes to and libvirt does not know is merged back', async () => {
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await openStrayLayer()
      await monitor('blockdev-snapshot', { node: await topNode(), overlay: 'stray-format' })
      await write()
    })
    await withEngine(async (engine) => {
      assert.equal(await engine.readPower('vm'), 'on')
      assert.deepEqual(await leftovers(host, ['vm']), [])
      // From here on libvirt and QEMU agree, and the guest can be frozen again.
      await engine.cloneVm({ id: 'clone', parent: 'vm' })
      await engine.changePower('vm', 'off')
      await holds(`${LIFE}/layer-2.qcow2`)
      await engine.deleteVm('clone')
    })
  })

  it('a layer that QEMU holds open and does not write to is removed', async () => {
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await openStrayLayer()
    })
    await withEngine(async (engine) => {
      assert.deepEqual(await leftovers(host, ['vm']), [])
      await engine.cloneVm({ id: 'clone', parent: 'vm' })
      await engine.deleteVm('clone')
    })
  })

  it('a layer that was not written to its end is removed', async () => {
    await withVm(async () => undefined)
    await succeeds(['truncate', '-s', '4096', `${LIFE}/layer-2.qcow2`])
    await withEngine(async (engine) => {
      assert.deepEqual(await leftovers(host, ['vm']), [])
      await engine.changePower('vm', 'on')
    })
  })

  it('a layer with data that no definition names is adopted after a power cut', async () => {
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await openStrayLayer()
      await monitor('blockdev-snapshot', { node: await topNode(), overlay: 'stray-format' })
      await write()
    })
    await host.powerCut()
    await host.powerOn()
    await withEngine(async () => {
      assert.deepEqual(await leftovers(host, ['vm']), [])
      await holds(`${LIFE}/layer-2.qcow2`)
    })
  })

  it('a partial snapshot is removed, and the guest that was paused for it continues', async () => {
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await monitor('blockdev-snapshot-internal-sync', { device: await topNode(), name: 'half' })
      await engine.changePower('vm', 'pause')
    })
    await noteUnderWay({ change: 'keep', snapshot: 'half', power: 'on' })
    await withEngine(async (engine) => {
      assert.equal(await engine.readPower('vm'), 'on')
      assert.deepEqual(await engine.listSnapshots('vm'), [])
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  it('a snapshot that libvirt knows and the disk lacks is dropped', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    await succeeds(['qemu-img', 'snapshot', '-d', 'half', `${LIFE}/layer-1.qcow2`])
    await noteUnderWay({ change: 'remove', snapshot: 'half', power: 'off' })
    await withEngine(async (engine) => {
      assert.deepEqual(await engine.listSnapshots('vm'), [])
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  it('a snapshot whose description was not yet renamed does not return once it is removed', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    await host.powerCut()
    // libvirt reads every file in there, and removes only the one with the snapshot's name.
    const described = join(dir, 'var/qemu/snapshot/local-vm/half.xml')
    await rename(described, `${described}.new`)
    await noteUnderWay({ change: 'keep', snapshot: 'half', power: 'off' })
    await host.powerOn()
    await withEngine(async (engine) => {
      assert.deepEqual(
        (await engine.listSnapshots('vm')).map(({ name }) => name),
        ['half'],
      )
      await engine.removeSnapshot('vm', 'half')
    })
    await host.powerCut()
    await host.powerOn()
    await withEngine(async (engine) => {
      assert.deepEqual(await engine.listSnapshots('vm'), [])
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  it('leaked clusters are freed', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    // As after a power cut before QEMU has written the number of snapshots.
    await succeeds(['virsh', 'snapshot-delete', 'local-vm', 'half', '--metadata'])
    await patch(join(dir, 'skerry/vms/vm.vm/1/layer-1.qcow2'), 60, Buffer.alloc(4))
    await noteUnderWay({ change: 'keep', snapshot: 'half', power: 'off' })
    assert.notDeepEqual(await leftovers(host, ['vm']), [])
    await withEngine(async () => assert.deepEqual(await leftovers(host, ['vm']), []))
  })

  it('an incomplete memory file is not a suspended guest', async () => {
    const save = join(dir, 'var/qemu/save/local-vm.save')
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await engine.changePower('vm', 'suspend')
      await patch(save, 0, Buffer.from('LibvirtQemudPart'))
    })
    await withEngine(async (engine) => {
      assert.equal(await engine.readPower('vm'), 'off')
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  it('the memory file of a guest that has long resumed is removed', async () => {
    const save = join(dir, 'var/qemu/save/local-vm.save')
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      await engine.changePower('vm', 'suspend')
      await copyFile(save, `${save}.kept`)
      await engine.changePower('vm', 'on')
      await host.killLibvirt()
      await copyFile(`${save}.kept`, save)
      await rm(`${save}.kept`)
      await host.startLibvirt()
    })
    await withEngine(async (engine) => {
      assert.deepEqual(await leftovers(host, ['vm']), [])
      assert.equal(await engine.changePower('vm', 'off'), 'off')
    })
  })

  it('a start that died before QEMU was up does not keep libvirt from starting it', async () => {
    const status = join(dir, 'run/libvirt/qemu/local-vm.xml')
    await withVm(async (engine) => {
      await engine.changePower('vm', 'on')
      const text = await readFile(status, 'utf8')
      await engine.changePower('vm', 'off')
      const unstarted = text
        .replace(/<domstatus [^>]*>/, "<domstatus state='paused' reason='starting up' pid='0'>")
        .replace('<devices>', "<job type='none' async='start'/><devices>")
      await writeFile(status, unstarted)
      await host.killLibvirt()
      await until('it should be removed', () => !existsSync(status), 60_000)
      await host.startLibvirt()
      assert.equal(await engine.changePower('vm', 'on'), 'on')
    })
  })

  it('a pid file that a dying QEMU left after libvirtd was lost is removed', async () => {
    const pidFile = (id: string) => join(dir, `run/libvirt/qemu/local-${id}.pid`)
    await withVm(async (engine) => {
      await engine.createVm({ id: 'deleted', memoryMiB: 64, diskMiB: 64 })
      await writeFile(pidFile('early'), GONE)
      await host.killLibvirt()
      // The engine has looked at all pid files, and looks at them again only with the next loss.
      await until('the loss should be noticed', () => !existsSync(pidFile('early')), 60_000)
      await writeFile(pidFile('vm'), GONE)
      await host.startLibvirt()
      await until('the VM should be repaired', () => !existsSync(pidFile('vm')), 60_000)
      await writeFile(pidFile('deleted'), GONE)
      await engine.deleteVm('deleted')
      await assertInOrder(host, ['vm'])
    })
  })

  it('a virtiofsd whose pid was never recorded is found and ended', async () => {
    await withVm(async (engine) => {
      await engine.enableSharing('vm')
      await engine.changePower('vm', 'on')
      await rm(join(dir, 'run/skerry/sockets/vm.sock.pid'))
    })
    await withEngine(async (engine) => {
      await engine.changePower('vm', 'off')
      // A virtiofsd is two processes, and the second ends a moment after the first.
      await assertInOrder(host, ['vm'])
    })
  })

  /** Runs a separate engine; it is killed at the end. */
  async function withEngine(work: (engine: RemoteEngine) => Promise<unknown>): Promise<void> {
    const engine = await startEngine(host)
    try {
      await work(engine)
    } finally {
      await engine.kill()
    }
  }

  /** A new VM, which the next call removes. */
  function withVm(work: (engine: RemoteEngine) => Promise<unknown>): Promise<void> {
    return withEngine(async (engine) => {
      for (const { id } of await engine.listVms()) await engine.deleteVm(id)
      await engine.createVm({ id: 'vm', memoryMiB: 64, diskMiB: 64 })
      await work(engine)
    })
  }

  async function succeeds(command: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await host.run(command)
    assert.equal(code, 0, `${command.join(' ')}: ${stderr}`)
    return stdout
  }

  async function monitor(execute: string, args: object = {}): Promise<unknown> {
    const command = JSON.stringify({ execute, arguments: args })
    const said = await succeeds(['virsh', 'qemu-monitor-command', 'local-vm', command])
    const answer = JSON.parse(said) as { return?: unknown; error?: { desc: string } }
    assert.equal(answer.error, undefined, answer.error?.desc ?? '')
    return answer.return
  }

  async function topNode(): Promise<string> {
    const blocks = (await monitor('query-block')) as { inserted: { 'node-name': string } }[]
    return blocks[0]?.inserted['node-name'] ?? ''
  }

  /** What libvirt does before a guest writes to another layer. */
  async function openStrayLayer(): Promise<void> {
    const file = `${LIFE}/layer-2.qcow2`
    const words = ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', 'layer-1.qcow2', file]
    await succeeds(['qemu-img', ...words])
    // As libvirt does for the disks it knows: QEMU runs as its own user.
    await succeeds(['chown', `--reference=${LIFE}/layer-1.qcow2`, file])
    await monitor('blockdev-add', {
      driver: 'file',
      filename: file,
      'node-name': 'stray-storage',
      'auto-read-only': true,
    })
    await monitor('blockdev-add', {
      driver: 'qcow2',
      file: 'stray-storage',
      'node-name': 'stray-format',
      backing: null,
    })
  }

  /** As if the guest had written and flushed it: unflushed data may be lost with the power. */
  async function write(): Promise<void> {
    for (const command of [`write -P ${PATTERN}`, 'flush']) {
      const line = `qemu-io -d /machine/peripheral/virtio-disk0/virtio-backend "${command}"`
      assert.equal(await monitor('human-monitor-command', { 'command-line': line }), '')
    }
  }

  async function holds(file: string): Promise<void> {
    const read = ['qemu-io', '-r', '-U', '-f', 'qcow2', '-c', `read -P ${PATTERN}`, file]
    assert.doesNotMatch(await succeeds(read), /failed/i)
  }

  async function patch(file: string, position: number, bytes: Buffer): Promise<void> {
    await using handle = await open(file, 'r+')
    await handle.write(bytes, 0, bytes.length, position)
  }

  async function noteUnderWay(underWay: object): Promise<void> {
    const file = join(dir, 'skerry/vms/vm.json')
    const record = JSON.parse(await readFile(file, 'utf8')) as object
    await writeFile(file, JSON.stringify({ ...record, underWay }))
  }
})
