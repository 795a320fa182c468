// A temporary directory that is deleted afterwards, also at Ctrl-C.
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Scratch extends AsyncDisposable {
  readonly path: string
}

export async function scratchDirectory(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), 'skerry-'))
  const end = (signal: NodeJS.Signals) => {
    // Another listener has a program running in it, forwards the signal, and fails when that program exits.
    if (process.listenerCount(signal) > 1) return
    rmSync(path, { recursive: true, force: true })
    process.off(signal, end)
    process.kill(process.pid, signal)
  }
  for (const signal of ENDING) process.on(signal, end)
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true })
      for (const signal of ENDING) process.off(signal, end)
    },
  }
}
