// Debian's websockify, with a certificate, in front of a port of this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePorts, until } from '@skerry/lab'

export interface WebsockifyProcess extends AsyncDisposable {
  readonly port: number
  readonly pid: number
}

/** Resolves when it listens; TLS only. */
export async function startWebsockifyProcess(
  { key, cert }: { readonly key: string; readonly cert: string },
  target: number,
): Promise<WebsockifyProcess> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'skerry-websockify-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  const port = await freePorts()
  const tls = [`--cert=${files.cert}`, `--key=${files.key}`, '--ssl-only']
  const child = spawn('websockify', [...tls, `127.0.0.1:${port}`, `127.0.0.1:${target}`], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  stack.defer(async () => {
    child.kill()
    await ended
  })
  await until('websockify should listen', () => isOpen(port), 20_000)
  const all = stack.move()
  return { port, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
