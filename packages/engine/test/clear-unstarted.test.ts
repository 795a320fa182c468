// Goal: a QEMU that is gone leaves no file that confuses libvirt or names a process. Method: the files that libvirtd leaves when it
// dies in the middle, in a directory of the test.
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { defaultPaths } from '../src/host/paths.ts'
import { clearUnstarted } from '../src/recover/clear-unstarted.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** A pid that no process can have: beyond the kernel's maximum. */
const NOBODY = '4194305'

test('pid files without a status are removed if their process is gone, and no others', async () => {
  await using dir = await temporaryDirectory()
  const qemuPids = join(dir.path, 'qemu')
  await mkdir(qemuPids)
  const files = {
    'driver.pid': NOBODY,
    'gone.pid': NOBODY,
    'half-written.pid': '',
    'runs-without-status.pid': String(process.pid),
    'has-status.pid': NOBODY,
    'has-status.xml': `<domstatus state='running' reason='booted' pid='${NOBODY}'>`,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(qemuPids, name), text)
  await clearUnstarted({ ...defaultPaths, qemuPids }, [])
  const left = await readdir(qemuPids)
  const kept = ['driver.pid', 'has-status.pid', 'has-status.xml', 'runs-without-status.pid']
  assert.deepEqual(left.sort(), kept)
})
