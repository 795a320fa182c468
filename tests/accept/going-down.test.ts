// Goal: VMs that ran when the machine shut down run again when it is back, and a guest loses nothing if it had time to stop.
// Method: vmd on a host with real guests, one of which ignores shutdown requests; power cuts and starts of the host.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { curlOn } from './curl.ts'
import { inGuest } from './in-guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const PROGRAM = join(import.meta.dirname, '../../apps/vmd/src/main.ts')
/** Enough time for a guest that responds, on a busy machine; the other one runs into the timeout. */
const OPTIONS = ['--restore', 'previous', '--shutdown-timeout', '40']
/** The last program that the guest starts. Of this boot: an earlier one may be in the serial log, too. */
const ALL_STARTED = `until ps | grep -q '[d]ropbear'; do sleep 1; done`

let dir: string
let host: LabHost
const { get, post, patch } = curlOn(() => host)

const stateOf = async (id: string) =>
  ((await get(`/api/vms/power/${id}`)).body as { message: string }).message
const states = () => Promise.all(['deaf', 'hears', 'rests'].map(stateOf))
const timesUp = async (id: string) =>
  (await get(`/api/vms/${id}/serial?bytes=1000000`)).text.match(/guest up in/g)?.length ?? 0

/** Polling a hundred times a second would leave no CPU time for the guests on two cores. */
const slowly = (what: string, ask: () => Promise<boolean>) =>
  until(
    what,
    async () => {
      const answer = await ask()
      if (!answer) await sleep(300)
      return answer
    },
    BOOT_MS,
  )

/** The power button first, then the agent that we used: a guest that answers neither ignores requests. */
async function makeDeaf(): Promise<void> {
  const script = 'killall acpid; (sleep 1; killall qemu-ga) >/dev/null 2>&1 &'
  await inGuest(host, 'deaf', script, BOOT_MS)
  const ping = ['qemu-agent-command', 'local-deaf', '{"execute":"guest-ping"}', '--timeout', '5']
  await slowly('deaf hears nothing', async () => {
    const { code } = await host.run(['virsh', '-q', ...ping])
    return code !== 0
  })
}

const untilBack = () =>
  slowly(
    'both run again',
    async () => (await states()).join() === 'powered on,powered on,powered off',
  )

suite('the machine shuts down and comes back', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'down-'))
    host = await startHost({ dir: join(dir, 'host') })
    await host.startVmd(OPTIONS)
    const file = await guestImage('small')
    assert.equal((await post('/api/templates?default', { file })).status, 201)
    for (const id of ['deaf', 'hears', 'rests'])
      assert.equal((await post('/api/vms', { id, memoryMiB: 128 })).status, 201)
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('--restore previous: after a power cut exactly the VMs that ran are started', async () => {
    for (const id of ['deaf', 'hears', 'rests']) await patch(`/api/vms/power/${id}`, 'on')
    await patch('/api/vms/power/rests', 'off')
    await host.powerCut()
    await host.powerOn()
    await untilBack()
  })

  test('--stop-guests shutdown: a guest shuts itself down, one that ignores the request is suspended, and both come back', async () => {
    for (const id of ['deaf', 'hears']) await inGuest(host, id, ALL_STARTED, BOOT_MS)
    await makeDeaf()
    const ups = await Promise.all(['deaf', 'hears'].map(timesUp))
    const stopped = await host.run([process.execPath, PROGRAM, '--stop-guests', 'shutdown'])
    assert.deepEqual([stopped.code, stopped.stdout], [0, '2 stopped, 0 left\n'], stopped.stderr)
    assert.deepEqual(await states(), ['suspended', 'powered off', 'powered off'])
    await host.powerCut()
    await host.powerOn()
    await untilBack()
    await slowly('hears has booted again', async () => (await timesUp('hears')) > (ups[1] ?? 0))
    assert.equal(await timesUp('deaf'), ups[0], 'deaf continues where it was')
  })

  test('--on-stop shutdown: guests stop with vmd, and are started with it', async () => {
    await patch('/api/vms/power/deaf', 'off')
    const ups = await timesUp('hears')
    await host.killVmd('SIGTERM')
    await host.startVmd([...OPTIONS, '--on-stop', 'shutdown'])
    assert.equal(await stateOf('hears'), 'powered on', 'vmd without the option leaves it running')
    await host.killVmd('SIGTERM')
    const { stdout } = await host.run(['virsh', '-q', 'list', '--all', '--state-shutoff', '--name'])
    assert.deepEqual(stdout.trim().split('\n').sort(), ['local-deaf', 'local-hears', 'local-rests'])
    await host.startVmd(OPTIONS)
    await slowly('hears has booted again', async () => (await timesUp('hears')) > ups)
    assert.deepEqual(await states(), ['powered off', 'powered on', 'powered off'])
  })
})
