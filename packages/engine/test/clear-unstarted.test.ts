// Goal: a QEMU that is gone leaves no file that confuses libvirt or names a process. Method: the files that libvirtd leaves when it
// dies in the middle, in a directory of the test.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { defaultPaths } from '../src/host/paths.ts'
import { clearPid, clearUnstarted } from '../src/recover/clear-unstarted.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** A pid that no process can have: beyond the kernel's maximum. */
const NOBODY = '4194305'

/** A process with an argument of the domain's QEMU. */
function startQemuOf(domain: string) {
  const words = ['-e', 'setInterval(() => undefined, 60_000)', `guest=${domain},debug-threads=on`]
  const child = spawn(process.execPath, words)
  return { pid: child.pid, [Symbol.dispose]: () => void child.kill() }
}

test('pid files without a status are removed if their QEMU is gone, and no others', async () => {
  using qemu = startQemuOf('runs-without-status')
  await using dir = await temporaryDirectory()
  const qemuPids = join(dir.path, 'qemu')
  await mkdir(qemuPids)
  const files = {
    'driver.pid': NOBODY,
    'gone.pid': NOBODY,
    'half-written.pid': '',
    'number-of-another.pid': String(process.pid),
    'runs-without-status.pid': String(qemu.pid),
    'has-status.pid': NOBODY,
    'has-status.xml': `<domstatus state='running' reason='booted' pid='${NOBODY}'>`,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(qemuPids, name), text)
  await clearUnstarted({ ...defaultPaths, qemuPids }, [])
  const left = await readdir(qemuPids)
  const kept = ['driver.pid', 'has-status.pid', 'has-status.xml', 'runs-without-status.pid']
  assert.deepEqual(left.sort(), kept)
})

test('the pid file of one domain is removed only if it neither runs nor starts', async () => {
  using qemu = startQemuOf('runs')
  await using dir = await temporaryDirectory()
  const qemuPids = dir.path
  const files = {
    'gone.pid': NOBODY,
    'half-written.pid': '',
    'other.pid': NOBODY,
    'number-of-another.pid': String(process.pid),
    'runs.pid': String(qemu.pid),
    'starts.pid': NOBODY,
    'starts.xml': "<domstatus state='paused' reason='starting up' pid='0'>",
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(qemuPids, name), text)
  for (const domain of ['gone', 'half-written', 'number-of-another', 'runs', 'starts', 'nothing']) {
    await clearPid({ ...defaultPaths, qemuPids }, domain)
  }
  const left = await readdir(qemuPids)
  assert.deepEqual(left.sort(), ['other.pid', 'runs.pid', 'starts.pid', 'starts.xml'])
})
