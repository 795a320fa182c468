// websockify with a certificate, in front of screens that are painted like ours.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

import { simulatedScreen } from '@skerry/lab'

import type { Authority } from '../console/authority.ts'
import { mustLook, type Viewer } from '../console/viewer.ts'
import { memoryOf } from './memory-of.ts'
import { startWebsockifyProcess } from './websockify-process.ts'

const NAME = 'a screen behind websockify'

export interface Websockify extends AsyncDisposable {
  look(): Promise<Viewer>
  /** Of all its processes, in bytes. */
  memory(): Promise<number>
}

export async function startWebsockify(authority: Authority, paints: number): Promise<Websockify> {
  await using stack = new AsyncDisposableStack()
  const displays = createServer((socket) => {
    const screen = simulatedScreen({ name: NAME, paints })
    socket.on('error', () => screen.destroy()).on('close', () => screen.destroy())
    socket.pipe(screen).pipe(socket)
  })
  displays.listen(0, '127.0.0.1')
  await once(displays, 'listening')
  stack.defer(() => void displays.close())
  const target = (displays.address() as AddressInfo).port
  const { port, pid } = stack.use(
    await startWebsockifyProcess(await authority.server('127.0.0.1'), target),
  )
  const all = stack.move()
  const url = `https://127.0.0.1:${port}`
  return {
    look: () => mustLook({ url, ca: authority.site, vm: NAME, ticket: '' }),
    memory: () => memoryOf(pid, { children: true }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
