// Many VMs on one host, many of them running: all are reported correctly and quickly, and nothing is left of them.
// Usage: node tests/bench/prove-many.ts [--vms 200] [--running 40] [--wave 4] [--minutes 60]
// Prints one line of JSON; fails on anything that is wrong, missing, left over or late.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'

import { guestImage, requirePrograms, startHost, type LabHost } from '@skerry/lab'

import { leftovers } from '../faults/leftovers.ts'
import { startEngine } from '../guest/engine.ts'

const { values } = parseArgs({
  options: {
    vms: { type: 'string', default: '200' },
    running: { type: 'string', default: '40' },
    /** The number of concurrent starts: more than the machine has CPUs for would only wait for each other. */
    wave: { type: 'string', default: '4' },
    minutes: { type: 'string', default: '60' },
  },
})

requirePrograms('host', 'small', 'bench')
const image = await guestImage('small')
const dir = await mkdtemp(join(tmpdir(), 'skerry-many-'))
try {
  await using host = await startHost({ dir })
  const { promise: late, reject } = Promise.withResolvers<never>()
  const tooLate = () => reject(new Error(`it was not done after ${values.minutes} minutes`))
  const timer = setTimeout(tooLate, Number(values.minutes) * 60_000)
  // The host is removed at the end of this block, with everything that still runs there.
  const figures = await Promise.race([prove(host), late])
  clearTimeout(timer)
  console.log(JSON.stringify({ proof: 'many', ...figures }))
} finally {
  await rm(dir, { recursive: true, force: true })
}

async function prove(host: LabHost): Promise<object> {
  {
    await using engine = await startEngine(host)
    await engine.importTemplate('default', image)
  }
  await host.startVmd()
  const { vms, running, wave, minutes } = values
  const script = `${import.meta.dirname}/inside-many.ts`
  const child = host.spawn([process.execPath, script, vms, running, wave, minutes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = child.stdout ? await text(child.stdout) : ''
  if (said === '') throw new Error('it broke off; its words are above')
  const left = await leftovers(host, [])
  if (left.length > 0) throw new Error(`left over: ${left.join('; ')}`)
  return JSON.parse(said) as object
}
