// Goal: a full disk is said before the work, and costs a running guest nothing but time.
// Method: the host's data on a small filesystem of its own, filled up and emptied from outside.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { BOOT_MS, inGuest, untilUp } from '../guest/guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const DATA = '/var/lib/skerry'
const DATA_MIB = 480
/** Less than what new work must leave free, more than a guest needs to go on. */
const NEARLY_FULL_MIB = 128

test(
  'a full disk is refused before the work, and a guest that it stops goes on',
  { skip },
  async () => {
    await using stack = new AsyncDisposableStack()
    const dir = await mkdtemp(join(tmpdir(), 'full-'))
    stack.defer(() => rm(dir, { recursive: true, force: true }))
    const host = stack.use(await startHost({ dir }))
    const shell = async (script: string) => {
      const { stdout, stderr, code } = await host.run(['bash', '-c', script])
      assert.equal(code, 0, `${script}: ${stderr}`)
      return stdout.trim()
    }
    const freeMiB = async () => Number(await shell(`df --output=avail -B1M ${DATA} | tail -n 1`))
    const fillTo = async (leftMiB: number) =>
      shell(`head -c ${(await freeMiB()) - leftMiB}M /dev/zero > ${DATA}/ballast`)
    await shell(`mount -t tmpfs -o size=${DATA_MIB}m tmpfs ${DATA}`)
    const engine = stack.use(await startEngine(host))
    await engine.importTemplate('default', await guestImage('small'))
    await engine.createVm({ id: 'eater', memoryMiB: 128, diskMiB: 300 })
    await engine.changePower('eater', 'on')
    await untilUp(engine, 'eater')

    await fillTo(NEARLY_FULL_MIB)
    const listed = await shell(`find ${DATA} | sort`)
    const refused = { kind: 'no-room', message: /needs \d+ MiB free in .*, there are \d+/ }
    await assert.rejects(engine.createVm({ id: 'one-more' }), refused)
    await assert.rejects(engine.cloneVm({ id: 'twin', parent: 'eater' }), refused)
    await assert.rejects(engine.createSnapshot('eater', { name: 'kept' }), refused)
    await assert.rejects(engine.importTemplate('another', await guestImage('small')), refused)
    assert.equal(await shell(`find ${DATA} | sort`), listed, 'nothing was begun')
    assert.equal(await engine.readPower('eater'), 'on')

    // More than there is room for: the guest is stopped in the middle of it.
    const eating = engine.execInGuest('eater', {
      path: '/bin/sh',
      args: ['-c', 'dd if=/dev/urandom of=/dev/vda bs=1M seek=64 count=200 conv=fsync'],
      timeoutMs: BOOT_MS,
    })
    // While it stands still its agent does not answer; that it ends well is seen afterwards, on its disk.
    eating.catch(() => undefined)
    const stopped = await until(
      'the full disk stops it',
      async () => {
        const vm = await engine.readVm('eater')
        return vm.power === 'paused' && vm
      },
      BOOT_MS,
    )
    assert.equal(stopped.pausedBy, 'full disk')

    await shell(`rm ${DATA}/ballast`)
    await until('it goes on', async () => (await engine.readPower('eater')) === 'on', BOOT_MS)
    await until('it is done', async () => (await engine.pingGuest('eater')) && dones(), BOOT_MS)
    assert.equal((await engine.readVm('eater')).pausedBy, undefined)

    async function dones(): Promise<boolean> {
      return (await inGuest(engine, 'eater', 'pidof dd || echo done')) === 'done'
    }
    const last = await inGuest(
      engine,
      'eater',
      'dd if=/dev/vda bs=1M skip=263 count=1 2>/dev/null | tr -d "\\000" | wc -c',
    )
    assert.ok(Number(last) > 1_000_000, `the last megabyte has ${last} bytes that are not zero`)
  },
)
