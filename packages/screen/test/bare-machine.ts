// A real QEMU without a guest: its BIOS writes to a real display. It is cheap.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { until } from '@skerry/lab'

export interface BareMachine extends AsyncDisposable {
  display(): Socket
}

export async function startBareMachine(name = 'bare'): Promise<BareMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-bare-'))
  const path = join(directory, 'vnc')
  const machine = spawn(
    'qemu-system-x86_64',
    [
      '-name',
      name,
      '-nodefaults',
      '-no-user-config',
      '-accel',
      'tcg',
      '-m',
      '32',
      '-vga',
      'std',
      '-display',
      'none',
      '-vnc',
      `unix:${path}`,
      '-nic',
      'none',
    ],
    { stdio: 'ignore' },
  )
  const ended = once(machine, 'exit')
  await until('QEMU to listen', () => accepts(path))
  return {
    display: () => connect(path),
    async [Symbol.asyncDispose]() {
      machine.kill()
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The socket has a name before it accepts connections. */
async function accepts(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
