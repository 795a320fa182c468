// Goal: a folder of the host is in the guest as requested, through everything that happens to the VM, to libvirt and to the
// engine, and leaves nothing when it is removed. Method: one guest for all of it; its own view from inside counts.
import assert from 'node:assert/strict'
import { chown, mkdir, readdir, readFile, rmdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { reasonToSkip, until } from '@skerry/lab'

import { startEngine, type RemoteEngine } from './engine.ts'
import { BOOT_MS, inGuest, startPlace, tryInGuest, untilUp, uptime, type Place } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const ID = 'vm-1'
const SOON_MS = 2000

let place: Place | undefined
/** The current engine; the first is killed on the way. */
let engine: RemoteEngine
let next: RemoteEngine | undefined
const there = (): Place => {
  assert(place, 'the host has started')
  return place
}
const mine = (name: string) => join(there().dir, name)
const guest = (script: string) => inGuest(engine, ID, script)

before(async () => {
  if (skip !== false) return
  place = await startPlace()
  engine = place.engine
  for (const name of ['work', 'docs', 'more']) {
    await mkdir(mine(name))
    await writeFile(mine(`${name}/hello`), `hello from ${name}`)
  }
  await engine.createVm({ id: ID, memoryMiB: 128 })
  await engine.changePower(ID, 'on')
  await untilUp(engine, ID)
})
after(async () => {
  await next?.[Symbol.asyncDispose]()
  await place?.[Symbol.asyncDispose]()
})

/**
 * Waits for what the guest must see, and returns the duration. The guest itself polls: a call for each poll would cost more than
 * the poll.
 */
async function soon(script: string, wanted: string): Promise<number> {
  const began = performance.now()
  const looking = `
    for try in $(seq 50); do
      [ "$(${script})" = '${wanted}' ] && exit 0
      sleep 0.1
    done
    exit 1`
  const isSeen = async () => (await tryInGuest(engine, ID, looking)).exitCode === 0
  await until(`the guest sees ${wanted}`, isSeen, BOOT_MS)
  return performance.now() - began
}

/** Everything on the host that exists for shares. A virtiofsd is two processes, and the second ends a moment after the first. */
async function leftOnHost(): Promise<string[]> {
  const { host } = there()
  const script = `
    find /run/skerry -mindepth 2
    grep -o '/run/skerry/[^ ]*' /proc/self/mountinfo
    for try in $(seq 300); do pgrep -r D,R,S,T virtiofsd >/dev/null || break; sleep 0.1; done
    pgrep -r D,R,S,T -a virtiofsd
    true`
  const { stdout } = await host.run(['sh', '-c', script])
  return stdout.split('\n').filter(Boolean)
}
const serverPids = async () => (await there().host.run(['pgrep', 'virtiofsd'])).stdout

describe('shared folders', { skip }, () => {
  test('a folder mapped while the guest runs is readable in it within 2 s', async (t) => {
    const began = performance.now()
    await engine.enableSharing(ID)
    const enabled = performance.now() - began
    await engine.addFolder(ID, { guestPath: 'work', hostPath: mine('work'), flags: 4 })
    await soon('cat /mnt/shares/work/hello', 'hello from work')
    const took = performance.now() - began
    t.diagnostic(`sharing enabled in ${Math.round(enabled)} ms, read after ${Math.round(took)} ms`)
    assert(took < SOON_MS, `it took ${took} ms`)
    await engine.addFolder(ID, { guestPath: 'more', hostPath: mine('more'), flags: 4 })
    assert((await soon('cat /mnt/shares/more/hello', 'hello from more')) < SOON_MS)
    assert.equal((await engine.readVm(ID)).sharing, true)
  })

  test('only its QEMU may connect to its virtiofsd', async () => {
    const { stdout } = await there().host.run([
      'stat',
      '-c',
      '%a %U',
      `/run/skerry/sockets/${ID}.sock`,
    ])
    assert.equal(stdout.trim(), '600 libvirt-qemu')
  })

  test('files written by the guest are on the host, and the reverse', async () => {
    await guest('echo from the guest >/mnt/shares/work/note; mkdir /mnt/shares/work/below')
    assert.equal(await readFile(mine('work/note'), 'utf8'), 'from the guest\n')
    await writeFile(mine('work/below/answer'), 'from the host')
    assert((await soon('cat /mnt/shares/work/below/answer', 'from the host')) < SOON_MS)
  })

  test('a guest cannot create a device in a folder', async () => {
    const { exitCode } = await tryInGuest(engine, ID, 'mknod /mnt/shares/work/null c 1 3')
    assert.notEqual(exitCode, 0)
    await assert.rejects(readFile(mine('work/null')))
  })

  test('a read-only folder is readable, and the guest cannot write to it', async () => {
    await engine.addFolder(ID, { guestPath: 'docs', hostPath: mine('docs'), flags: 0 })
    assert((await soon('cat /mnt/shares/docs/hello', 'hello from docs')) < SOON_MS)
    const tries = [
      'echo x >/mnt/shares/docs/new',
      'echo x >>/mnt/shares/docs/hello',
      'rm /mnt/shares/docs/hello',
      'chmod 777 /mnt/shares/docs/hello',
      'mkdir /mnt/shares/docs/below',
      'ln -s /etc /mnt/shares/docs/link',
      'mv /mnt/shares/docs/hello /mnt/shares/work/taken',
      'mount -o remount,rw /mnt/shares && echo x >/mnt/shares/docs/new',
    ]
    for (const script of tries) {
      const { exitCode, stderr } = await tryInGuest(engine, ID, script)
      assert.notEqual(exitCode, 0, script)
      assert.match(stderr, /Read-only file system|can't|cannot/i, script)
    }
    assert.deepEqual(await readdir(mine('docs')), ['hello'])
    assert.equal(await readFile(mine('docs/hello'), 'utf8'), 'hello from docs')
  })

  test('outside its folders the guest writes nothing', async () => {
    // A link created there would lead the mount of the next folder to any place of the host.
    const tries = [
      'echo x >/mnt/shares/evil',
      'mkdir /mnt/shares/evil',
      'ln -s /etc /mnt/shares/evil',
      'mv /mnt/shares/more /mnt/shares/evil',
      'rmdir /mnt/shares/more',
    ]
    for (const script of tries) {
      assert.notEqual((await tryInGuest(engine, ID, script)).exitCode, 0, script)
    }
    assert.equal(await guest('ls /mnt/shares'), 'docs\nmore\nwork')
  })

  test('a removed folder is gone from the guest, and unchanged on the host', async () => {
    await engine.removeFolder(ID, 'more')
    assert((await soon('ls /mnt/shares', 'docs\nwork')) < SOON_MS)
    assert((await soon('cat /mnt/shares/more/hello || echo gone', 'gone')) < SOON_MS)
    assert.equal(await readFile(mine('more/hello'), 'utf8'), 'hello from more')
    await assert.rejects(engine.removeFolder(ID, 'more'), { kind: 'not-found' })
    // Also while it is the working directory of a program in the guest.
    await engine.addFolder(ID, { guestPath: 'more', hostPath: mine('more'), flags: 4 })
    await soon('cat /mnt/shares/more/hello', 'hello from more')
    await guest('cd /mnt/shares/more && sleep 1000 <hello >/dev/null 2>&1 &')
    await engine.removeFolder(ID, 'more')
    await soon('ls /mnt/shares', 'docs\nwork')
    assert.equal(await readFile(mine('more/hello'), 'utf8'), 'hello from more')
  })

  test('the same mapping again is accepted, a different one is rejected', async () => {
    const folder = { guestPath: 'work', hostPath: mine('work'), flags: 4 } as const
    assert.deepEqual(await engine.addFolder(ID, folder), folder)
    for (const other of [{ flags: 0 as const }, { hostPath: mine('docs') }]) {
      await assert.rejects(engine.addFolder(ID, { ...folder, ...other }), { kind: 'conflict' })
    }
    const barred = { ...folder, guestPath: 'own', hostPath: '/var/lib/skerry' }
    await assert.rejects(engine.addFolder(ID, barred), { kind: 'forbidden' })
  })

  test('it is available again after suspend and resume', async () => {
    const up = await uptime(engine, ID)
    await engine.changePower(ID, 'suspend')
    assert.deepEqual(await leftOnHost(), [])
    await engine.changePower(ID, 'on')
    await soon('cat /mnt/shares/work/note', 'from the guest')
    assert((await uptime(engine, ID)) >= up)
    const { exitCode } = await tryInGuest(engine, ID, 'echo x >/mnt/shares/docs/new')
    assert.notEqual(exitCode, 0, 'it is still read-only')
  })

  test('a paused guest cannot be suspended while it has shares, and continues', async () => {
    await engine.changePower(ID, 'pause')
    await assert.rejects(engine.changePower(ID, 'suspend'), {
      kind: 'conflict',
      hint: 'unpause VM vm-1 first',
    })
    assert.equal(await engine.readPower(ID), 'paused')
    await engine.changePower(ID, 'unpause')
    assert.equal(await guest('cat /mnt/shares/work/note'), 'from the guest')
  })

  test('a snapshot with memory does not change them', async () => {
    await engine.createSnapshot(ID, { name: 'shared', memory: true })
    await soon('cat /mnt/shares/work/note', 'from the guest')
    await engine.removeSnapshot(ID, 'shared')
  })

  test('kill -9 of libvirtd does not affect them', async () => {
    const { host } = there()
    const servers = await serverPids()
    await host.killLibvirt('SIGKILL')
    await writeFile(mine('work/meanwhile'), 'libvirtd was away')
    await host.startLibvirt()
    await untilUp(engine, ID)
    await soon('cat /mnt/shares/work/meanwhile', 'libvirtd was away')
    assert.equal(await serverPids(), servers)
    await engine.addFolder(ID, { guestPath: 'more', hostPath: mine('more'), flags: 4 })
    await soon('cat /mnt/shares/more/hello', 'hello from more')
  })

  test('kill -9 of the engine does not affect them, and the next one continues', async () => {
    const { host } = there()
    const servers = await serverPids()
    await engine.kill()
    await writeFile(mine('work/alone'), 'there was no engine')
    next = await startEngine(host)
    engine = next
    await soon('cat /mnt/shares/work/alone', 'there was no engine')
    assert.equal(await serverPids(), servers)
    await engine.removeFolder(ID, 'more')
    await soon('ls /mnt/shares', 'docs\nwork')
  })

  test('off, nothing of them is left on the host; on again, they are available', async () => {
    // A folder of a user, who later replaces it by a link to another user's directory.
    const [uid, lent] = [1234, mine('lent')]
    await mkdir(lent)
    await chown(lent, uid, uid)
    const folder = { guestPath: 'lent', hostPath: lent, flags: 4 } as const
    await assert.rejects(engine.addFolder(ID, folder, uid + 1), { kind: 'forbidden' })
    assert.deepEqual(await engine.addFolder(ID, folder, uid), folder)
    await soon('ls /mnt/shares', 'docs\nlent\nwork')

    await engine.changePower(ID, 'off')
    assert.deepEqual(await leftOnHost(), [])
    await rmdir(lent)
    await symlink(mine('docs'), lent)
    // A folder mapped while it is off is available at the next start.
    await engine.addFolder(ID, { guestPath: 'more', hostPath: mine('more'), flags: 4 })
    assert.deepEqual(await leftOnHost(), [])
    await engine.changePower(ID, 'on')
    await untilUp(engine, ID, 2)
    await soon('ls /mnt/shares', 'docs\nmore\nwork')
    assert.equal(await guest('cat /mnt/shares/work/note'), 'from the guest')
    assert.equal((await engine.listFolders(ID)).length, 4, 'a folder that cannot be shown is kept')
  })

  test('a guest that shuts itself down leaves nothing of them on the host', async () => {
    await guest('(sleep 0.3; poweroff -f) >/dev/null 2>&1 &')
    await until('the guest is off', async () => (await engine.readPower(ID)) === 'off', BOOT_MS)
    await until('nothing is left', async () => (await leftOnHost()).length === 0, BOOT_MS)
  })

  test('a guest whose agent runs no programs, as some systems ship it, is suspended and resumed', async () => {
    await engine.changePower(ID, 'on')
    await untilUp(engine, ID, 3)
    // An agent leaves the port to the next one when it has ended. The last one runs programs again, once the folders are back.
    const restart = `
      port=$(echo /dev/vport*)
      start() {
        killall qemu-ga
        while pidof qemu-ga; do sleep 0.1; done
        qemu-ga -m virtio-serial -p $port -d "$@"
      }
      start -b guest-exec
      while ls /mnt/shares/work; do sleep 0.1; done
      until ls /sys/bus/virtio/drivers/virtiofs | grep virtio; do sleep 0.1; done
      start`
    await guest(`(sleep 0.3; ${restart}) >/dev/null 2>&1 &`)
    const outcome = () =>
      tryInGuest(engine, ID, 'true').then(
        () => 'runs',
        ({ kind }: Fault) => kind,
      )
    await until('the agent runs no programs', async () => (await outcome()) === 'invalid', BOOT_MS)
    await engine.changePower(ID, 'suspend')
    assert.deepEqual(await leftOnHost(), [])
    await engine.changePower(ID, 'on')
    await until('the agent runs programs', async () => (await outcome()) === 'runs', BOOT_MS)
    // The mount of before the suspension was never unmounted.
    await soon('cat /mnt/shares/work/note', 'from the guest')
  })

  test('a VM that is deleted while running leaves nothing', async () => {
    if ((await engine.readPower(ID)) !== 'on') await engine.changePower(ID, 'on')
    assert.notEqual(await serverPids(), '')
    await engine.deleteVm(ID)
    assert.deepEqual(await leftOnHost(), [])
    assert.deepEqual(await readdir(mine('host/skerry/vms')), [])
    assert.equal(await readFile(mine('work/note'), 'utf8'), 'from the guest\n')
  })
})
