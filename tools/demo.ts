// Creates one VM and shows its screen, on a host of the lab; removes everything afterwards.
// Usage: npm run demo [-- PICTURE.png]
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { guestImage, reasonToSkip, startHost, until } from '@skerry/lab'

import { startEngine } from '../tests/guest/engine.ts'

const BOOT_MS = 120_000

const missing = reasonToSkip('host', 'small')
if (missing !== undefined) {
  console.error(`demo: ${missing}`)
  process.exit(1)
}

const began = performance.now()
const say = (text: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}`)

const picture = resolve(process.argv[2] ?? 'demo.png')
const dir = await mkdtemp(join(tmpdir(), 'demo-'))
try {
  const image = await guestImage('small')
  await using host = await startHost({ dir })
  say(`the host is up: libvirtd has the pid ${host.libvirt.pid}`)

  await using engine = await startEngine(host)
  await engine.importTemplate('default', image)
  const vm = await engine.createVm({ id: 'first', name: 'My first VM', memoryMiB: 192 })
  say(
    `VM ${vm.id} is created: ${vm.cpus} CPU, ${vm.memoryMiB} MiB of memory, ${vm.diskMiB} MiB of disk, ${vm.power}`,
  )

  say(`it is ${await engine.changePower('first', 'on')}`)
  const { address } = await engine.waitForAddress('first', BOOT_MS)
  say(`its address is ${address}`)

  await until('the guest agent responds', () => engine.pingGuest('first'), BOOT_MS)
  const { stdout } = await engine.execInGuest('first', { path: '/bin/uname', args: ['-a'] })
  say(`the guest reports: ${stdout.trim()}`)

  const screen = await until('the screen shows a picture', async () => {
    const { bytes } = await engine.takeScreenshot('first')
    return bytes.length > 0 ? bytes : undefined
  })
  await writeFile(picture, screen)
  say(`its screen was saved to ${picture}`)

  say(`it is ${await engine.changePower('first', 'shutdown')}`)
  await engine.deleteVm('first')
  say('the VM is deleted; removing the host')
} finally {
  await rm(dir, { recursive: true, force: true })
}
