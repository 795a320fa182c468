import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { processorSeconds } from './processor.ts'

const run = promisify(execFile)
const CONNECTIONS = 64
const SECONDS = 2

export interface Server {
  readonly pid: number
  readonly url: string
}

export interface LoadOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly connections?: number
}

/** The responses of a server on 64 keep-alive connections: per second, and per second of its CPU time. */
export async function load(
  { pid, url }: Server,
  { headers = {}, connections = CONNECTIONS }: LoadOptions = {},
): Promise<readonly [number, number]> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const words = ['-t', '1', '-c', String(connections), '-d', `${SECONDS}s`, ...sent, url]
  const before = processorSeconds(pid)
  const { stdout } = await run('wrk', words)
  const used = processorSeconds(pid) - before
  const wrong = /^.*(Non-2xx|Socket errors).*$/m.exec(stdout)?.[0]
  if (wrong !== undefined) throw new Error(`${url}: ${wrong.trim()}`)
  const perSecond = Number(/^Requests\/sec:\s+([\d.]+)/m.exec(stdout)?.[1])
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  return [perSecond, requests / used]
}

/** A server of node:http alone that always returns this. */
export async function startBareServer(body: string): Promise<Server & AsyncDisposable> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/bare-http.ts`, body], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
