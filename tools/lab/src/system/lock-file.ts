// A lock that the kernel releases however its holder ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Waits for the lock on a file, and holds it until disposed. */
export async function lockFile(path: string): Promise<AsyncDisposable> {
  // The lock belongs to a process that ends when its input does, so it cannot outlive us.
  const holder = spawn('flock', [path, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [said] = (await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => []),
  ])) as [Buffer?]
  if (said === undefined) throw new Error(`cannot lock ${path}`)
  return {
    async [Symbol.asyncDispose]() {
      if (holder.exitCode !== null) return
      holder.stdin.end()
      await once(holder, 'exit')
    },
  }
}
