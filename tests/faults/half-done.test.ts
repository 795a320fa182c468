// Goal: every half that a crash can leave is put in order. Method: make each half by hand, exactly as the crash would, since
// chance meets some of them once in a thousand kills; then start an engine.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, after, describe, it } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine, type RemoteEngine } from '../guest/engine.ts'
import { leftovers } from './leftovers.ts'

const reason = reasonToSkip('host', 'small')
const LIFE = '/var/lib/skerry/vms/vm.vm/1'
const PATTERN = '0x5a 52M 1M'

describe('what was half done', { skip: reason ?? false }, () => {
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

  it('a layer that QEMU writes to and libvirt does not know is taken back', async () => {
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

  it('a layer that QEMU holds open and nobody writes to is taken away', async () => {
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

  it('a layer with data that no definition names is taken over after a power cut', async () => {
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

  it('half a snapshot is taken away, and the guest that stood still for it goes on', async () => {
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

  it('a snapshot that libvirt knows and the disk has not is forgotten', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    await succeeds(['qemu-img', 'snapshot', '-d', 'half', `${LIFE}/layer-1.qcow2`])
    await noteUnderWay({ change: 'remove', snapshot: 'half', power: 'off' })
    await withEngine(async (engine) => {
      assert.deepEqual(await engine.listSnapshots('vm'), [])
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  it('a snapshot whose description was not yet called by its name does not come back once it is removed', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    await host.powerCut()
    // libvirt reads whatever is in there, and takes away only what is called by the snapshot's name.
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

  it('clusters that nobody uses are given back', async () => {
    await withVm((engine) => engine.createSnapshot('vm', { name: 'half' }))
    // As when the power goes before QEMU writes down how many snapshots there are.
    await succeeds(['virsh', 'snapshot-delete', 'local-vm', 'half', '--metadata'])
    await patch(join(dir, 'skerry/vms/vm.vm/1/layer-1.qcow2'), 60, Buffer.alloc(4))
    await noteUnderWay({ change: 'keep', snapshot: 'half', power: 'off' })
    assert.notDeepEqual(await leftovers(host, ['vm']), [])
    await withEngine(async () => assert.deepEqual(await leftovers(host, ['vm']), []))
  })

  it('memory that was not written to its end is no suspended guest', async () => {
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

  it('memory of a guest that has long gone on is taken away', async () => {
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

  it('a start that died before QEMU stood does not keep libvirt from starting it', async () => {
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
      await until('it should be taken away', () => !existsSync(status), 60_000)
      await host.startLibvirt()
      assert.equal(await engine.changePower('vm', 'on'), 'on')
    })
  })

  it('a virtiofsd whose number was never written down is found and ended', async () => {
    await withVm(async (engine) => {
      await engine.enableSharing('vm')
      await engine.changePower('vm', 'on')
      await rm(join(dir, 'run/skerry/sockets/vm.sock.pid'))
    })
    await withEngine(async (engine) => {
      await engine.changePower('vm', 'off')
      assert.deepEqual(await leftovers(host, ['vm']), [])
    })
  })

  /** Runs an engine of its own; it dies at the end as if killed. */
  async function withEngine(work: (engine: RemoteEngine) => Promise<unknown>): Promise<void> {
    const engine = await startEngine(host)
    try {
      await work(engine)
    } finally {
      await engine.kill()
    }
  }

  /** A fresh VM, which the next call takes away. */
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

  /** What libvirt does before it makes a guest write to another layer. */
  async function openStrayLayer(): Promise<void> {
    const file = `${LIFE}/layer-2.qcow2`
    const words = ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', 'layer-1.qcow2', file]
    await succeeds(['qemu-img', ...words])
    await monitor('blockdev-add', {
      ...{ driver: 'file', filename: file, 'node-name': 'stray-storage' },
      'auto-read-only': true,
    })
    await monitor('blockdev-add', {
      ...{ driver: 'qcow2', file: 'stray-storage', 'node-name': 'stray-format', backing: null },
    })
  }

  /** As if the guest had, and had waited until it is safe: what was not flushed may go with the power. */
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
