import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { guestImage, requirePrograms, startHost } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import type { Figure } from './figure.ts'

/** vmd by HTTP against bare libvirt and a bare HTTP server, all on a lab host created for this run. */
export async function benchLocal(pairs: number): Promise<Figure[]> {
  requirePrograms('host', 'small', 'bench')
  const image = await guestImage('small')
  const dir = await mkdtemp(join(tmpdir(), 'skerry-bench-'))
  try {
    await using host = await startHost({ dir })
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', image)
    }
    await host.startVmd()
    const inside = `${import.meta.dirname}/inside-local.ts`
    const command = [process.execPath, inside, String(pairs)]
    const { code, stdout, stderr } = await host.run(command)
    if (code !== 0) throw new Error(`the benchmark broke off: ${stderr.trim() || `code ${code}`}`)
    return JSON.parse(stdout) as Figure[]
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
