// Goal: a bare libvirtd serves the in-memory driver, dies, restarts, and leaves nothing behind.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'

import { libvirtAnswers } from '../src/host/libvirt-answers.ts'
import { reasonWithoutRoot, startLibvirt } from '../src/index.ts'
import { isAlive } from '../src/system/processes.ts'
import { run } from '../src/system/run.ts'

const skip = reasonWithoutRoot('host') ?? false

test(
  'a bare libvirtd responds, dies, responds again on the same socket, and is gone',
  { skip },
  async () => {
    let socket: string
    let pid: number
    {
      await using libvirt = await startLibvirt()
      socket = libvirt.socket
      const names = await run([
        'virsh',
        '-c',
        `test+unix:///default?socket=${socket}`,
        'list',
        '--name',
      ])
      assert.equal(names.trim(), 'test')
      const first = libvirt.pid
      await libvirt.kill()
      assert.deepEqual([isAlive(first), await libvirtAnswers(socket)], [false, false])
      await libvirt.restart()
      assert.equal(await libvirtAnswers(socket), true)
      pid = libvirt.pid
      assert.notEqual(pid, first)
    }
    assert.deepEqual([isAlive(pid), existsSync(dirname(socket))], [false, false])
  },
)
