import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startBalancer } from '@skerry/lab'

const run = promisify(execFile)
const PROGRAM = join(import.meta.dirname, 'closed-network-process.ts')

/** A network namespace with its own loopback and nothing else: each connection out and in is declared. */
export interface ClosedNetwork extends AsyncDisposable {
  /** The words before a command that run it there. */
  readonly prefix: readonly string[]
  /** The address of one of its loopback ports in the machine's own network. */
  at(port: number): Promise<number>
  /** From now on packets to these ports are dropped there: connections stall, new ones time out. */
  drop(ports: readonly number[]): Promise<void>
  fix(): Promise<void>
}

/** `out`: ports of the machine's loopback that are visible there under the same numbers; `into`: the other direction. */
export async function closeNetwork(
  out: readonly number[],
  into: readonly number[],
): Promise<ClosedNetwork> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'skerry-closed-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const file = (port: number) => join(dir, String(port))
  for (const port of out) {
    const targets = [{ host: '127.0.0.1', port }]
    stack.use(await startBalancer({ path: file(port), targets }))
  }
  const words = [
    ...out.map((port) => `out:${port}=${file(port)}`),
    ...into.map((port) => `in:${port}=${file(port)}`),
  ]
  const script = 'ip link set lo up && exec "$0" "$@"'
  const command = ['--net', 'sh', '-c', script, process.execPath, PROGRAM, ...words]
  const child = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'inherit'] })
  stack.defer(async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
  })
  await once(child.stdout, 'data')
  const prefix = ['nsenter', `--net=/proc/${child.pid}/ns/net`, '--'] as const
  const iptables = async (...rule: readonly string[]) => {
    const [program, ...rest] = prefix
    await run(program, [...rest, 'iptables', '-w', ...rule])
  }
  const all = stack.move()
  return {
    prefix,
    async at(port) {
      return all.use(await startBalancer({ targets: [{ path: file(port) }] })).port
    },
    async drop(ports) {
      for (const port of ports) {
        await iptables('-A', 'OUTPUT', '-p', 'tcp', '--dport', String(port), '-j', 'DROP')
      }
    },
    fix: () => iptables('-F', 'OUTPUT'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
