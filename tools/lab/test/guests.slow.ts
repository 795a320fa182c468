// Goal: the small guest boots on a lab host, reads its seed, and accepts its owner by SSH, agent and serial line. The Debian guest is
// built by `skerry template build`: tests/accept/cloud-init.test.ts boots it.
//   node tools/run-tests.ts --serial 'tools/lab/test/*.slow.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'

import type { LabHost } from '../src/index.ts'
import { guestImage, reasonToSkip, startHost, until } from '../src/index.ts'
import { run } from '../src/system/run.ts'

const BOOT_TIMEOUT_MS = 300_000

const NETWORK = `<network xmlns:dnsmasq='http://libvirt.org/schemas/network/dnsmasq/1.0'>
  <name>lab</name><bridge name='virbr0'/>
  <ip address='192.168.130.1' netmask='255.255.255.0'>
    <dhcp><range start='192.168.130.2' end='192.168.130.254'/></dhcp>
  </ip>
  <dnsmasq:options><dnsmasq:option value='no-ping'/></dnsmasq:options>
</network>`

const DOMAIN = `<domain type='qemu'>
  <name>guest</name><memory unit='MiB'>192</memory><vcpu>2</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <features><acpi/></features>
  <cpu mode='custom'><model>qemu64</model><feature policy='require' name='svm'/></cpu>
  <devices>
    <disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
      <source file='/var/lib/libvirt/images/guest.qcow2'/><target dev='vda' bus='virtio'/></disk>
    <disk type='file' device='disk'><driver name='qemu' type='raw'/>
      <source file='/var/lib/libvirt/images/seed.img'/><target dev='vdb' bus='virtio'/><readonly/></disk>
    <interface type='network'><source network='lab'/><model type='virtio'/></interface>
    <serial type='pty'><log file='/var/log/libvirt/serial.log'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
  </devices>
</domain>`

interface Guest extends AsyncDisposable {
  readonly host: LabHost
  /** Runs a command on the host that must succeed. */
  readonly must: (...command: string[]) => Promise<string>
  readonly ssh: (command: string) => Promise<string>
  /** Presses the power button and waits until the guest is off. */
  shutDown(): Promise<void>
}

/** Boots the small guest on its own host until SSH responds. */
async function boot(t: TestContext): Promise<Guest> {
  const image = await guestImage('small')
  const dir = await mkdtemp(join(tmpdir(), 'small-guest-'))
  const host = await startHost({ dir: join(dir, 'h') })
  const must = async (...command: string[]) => {
    const { code, stdout, stderr } = await host.run(command)
    assert.equal(code, 0, `${command.join(' ')}: ${stderr}${stdout}`)
    return stdout
  }
  const images = join(host.dir, 'var/images')
  const key = join(dir, 'key')
  await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key])
  await makeSeed(dir, join(images, 'seed.img'), await readFile(`${key}.pub`, 'utf8'))
  // A copy: QEMU runs as its own user, who cannot open the image cache.
  await run(['cp', '--reflink=auto', image, join(images, 'guest.qcow2')])
  await writeFile(join(dir, 'network.xml'), NETWORK)
  await writeFile(join(dir, 'domain.xml'), DOMAIN)
  await must('virsh', 'net-define', join(dir, 'network.xml'))
  await must('virsh', 'net-start', 'lab')
  await must('virsh', 'define', join(dir, 'domain.xml'))

  const began = performance.now()
  const note = (what: string) =>
    t.diagnostic(`${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  await must('virsh', 'start', 'guest')
  const address = await until(
    'the guest should have an address',
    async () => (await must('virsh', '-q', 'domifaddr', 'guest')).match(/\d+\.\d+\.\d+\.\d+/)?.[0],
    BOOT_TIMEOUT_MS,
  )
  note('an address')
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes']
  const words = [
    'ssh',
    ...options.flatMap((option) => ['-o', option]),
    '-i',
    key,
    `root@${address}`,
  ]
  await until(
    'ssh should answer',
    async () => (await host.run([...words, 'true'])).code === 0,
    BOOT_TIMEOUT_MS,
  )
  note('ssh')
  return {
    host,
    must,
    ssh: async (command) => must(...words, command),
    async shutDown() {
      await must('virsh', 'shutdown', '--mode', 'acpi', 'guest')
      const isOff = async () => (await must('virsh', 'domstate', 'guest')).includes('shut off')
      await until('the guest should shut down', isOff, BOOT_TIMEOUT_MS)
      note('off')
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

test(
  'the small guest has a seed, SSH, an agent, a shell on the serial line and a power button',
  { skip: reasonToSkip('host', 'small') ?? false },
  async (t) => {
    await using guest = await boot(t)
    const { host, must, ssh } = guest
    // SSH answers before the guest prints that it is up.
    const readSerial = () => readFile(join(host.dir, 'log/serial.log'), 'utf8')
    const isUp = async () => / kvm=\w+\r?\n/.test(await readSerial())
    await until('the guest should print that it is up', isUp, BOOT_TIMEOUT_MS)
    assert.match(await readSerial(), /guest up in \d+\.\d+s svm=1 kvm=yes/)
    assert.equal(await ssh('hostname'), 'seeded\n')
    await must('virsh', 'qemu-agent-command', 'guest', '{"execute":"guest-ping"}')

    const terminal = (await must('virsh', 'ttyconsole', 'guest')).trim()
    const line = host.spawn(
      ['sh', '-c', `exec 3<>${terminal}; echo 'echo sum=$((6*7))' >&3; exec cat <&3`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    assert.ok(line.stdout)
    let said = ''
    while (!said.includes('sum=42')) said += String((await once(line.stdout, 'data'))[0])
    line.kill()
    await guest.shutDown()
  },
)

async function makeSeed(work: string, out: string, key: string): Promise<void> {
  const seed = join(work, 'seed')
  await mkdir(seed)
  await writeFile(
    join(seed, 'user-data'),
    `#cloud-config\nssh_authorized_keys:\n  - ${key.trim()}\n`,
  )
  await writeFile(join(seed, 'meta-data'), 'instance-id: seeded-1\nlocal-hostname: seeded\n')
  await run(['truncate', '-s', '1M', out])
  await run(['mkfs.vfat', '-n', 'CIDATA', out])
  await run(['mcopy', '-i', out, join(seed, 'user-data'), join(seed, 'meta-data'), '::'])
}
