import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { guestImage, requirePrograms, startHost } from '@skerry/lab'

import type { Figure } from './figure.ts'

/** The engine against the baseline, both on a lab host created for this run. */
export async function benchEngine(pairs: number): Promise<Figure[]> {
  requirePrograms('host', 'small', 'bench')
  const image = await guestImage('small')
  const dir = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  try {
    await using host = await startHost({ dir })
    const inside = `${import.meta.dirname}/inside.ts`
    const command = [process.execPath, inside, String(pairs), image]
    const { code, stdout, stderr } = await host.run(command)
    if (code !== 0) throw new Error(`the benchmark broke off: ${stderr.trim() || `code ${code}`}`)
    return JSON.parse(stdout) as Figure[]
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
