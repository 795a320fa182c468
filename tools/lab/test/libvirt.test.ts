// Goal: a bare libvirtd serves the in-memory driver, dies and comes back, and leaves nothing behind.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot, startLibvirt } from '../src/index.ts'
import { libvirtAnswers } from '../src/libvirt-answers.ts'
import { isAlive } from '../src/processes.ts'
import { run } from '../src/run.ts'

const skip = reasonWithoutRoot('host') ?? false

test(
  'a bare libvirtd answers, dies, answers again on the same socket, and is gone',
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
