// A directory that is gone afterwards, also when the person has seen enough and presses Ctrl-C.
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
    // Whoever else listens has a program running in it, passes the signal on, and fails when that program ends.
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
