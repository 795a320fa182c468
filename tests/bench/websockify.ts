// websockify with a certificate, in front of screens that are painted as ours are.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePorts, simulatedScreen, until } from '@skerry/lab'

import type { Authority } from '../console/authority.ts'
import { mustLook, type Viewer } from '../console/viewer.ts'
import { memoryOf } from './memory-of.ts'

const NAME = 'a screen behind websockify'

export interface Websockify extends AsyncDisposable {
  look(): Promise<Viewer>
  /** Of all its processes, in bytes. */
  memory(): Promise<number>
}

export async function startWebsockify(authority: Authority, paints: number): Promise<Websockify> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'skerry-websockify-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const displays = createServer((socket) => {
    const screen = simulatedScreen({ name: NAME, paints })
    socket.on('error', () => screen.destroy()).on('close', () => screen.destroy())
    socket.pipe(screen).pipe(socket)
  })
  displays.listen(0, '127.0.0.1')
  await once(displays, 'listening')
  stack.defer(() => void displays.close())
  const { cert, key } = await authority.server('127.0.0.1')
  await writeFile(join(dir, 'cert.pem'), cert)
  await writeFile(join(dir, 'key.pem'), key)
  const port = await freePorts()
  const target = `127.0.0.1:${(displays.address() as AddressInfo).port}`
  const tls = [`--cert=${join(dir, 'cert.pem')}`, `--key=${join(dir, 'key.pem')}`, '--ssl-only']
  const child = spawn('/usr/bin/websockify', [...tls, `127.0.0.1:${port}`, target], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await until('websockify should listen', () => isOpen(port), 20_000)
  const all = stack.move()
  const url = `https://127.0.0.1:${port}`
  return {
    look: () => mustLook({ url, ca: authority.site, vm: NAME, ticket: '' }),
    memory: () => memoryOf(child.pid ?? 0, { children: true }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  const opened = Promise.withResolvers<boolean>()
  socket.once('connect', () => opened.resolve(true)).once('error', () => opened.resolve(false))
  const answer = await opened.promise
  socket.destroy()
  return answer
}
