// The provider of this clone: built, and checked with Go's own tools.
import { join } from 'node:path'

import { attempt, run } from '../../tools/lab/src/system/run.ts'

export const CLIENT = join(import.meta.dirname, '../../clients/terraform')
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/skerry-tofu')

/** As Temporal is built, so that Go compiles its standard library once for both; with the commit, each one would have another program. */
const flags = ['-trimpath', '-buildvcs=false'] as const
const inClient = { cwd: CLIENT, env: { ...process.env, CGO_ENABLED: '0' } } as const

/** The folder of the program. Go does nothing if it is up to date. */
export async function buildProvider(): Promise<string> {
  const program = join(FOLDER, 'terraform-provider-skerry')
  await run(['go', 'build', ...flags, '-o', program, '.'], inClient)
  return FOLDER
}

/** What gofmt and vet say. Good: nothing. */
export async function lintProvider(): Promise<string> {
  const format = await attempt(['gofmt', '-l', '.'], inClient)
  const vet = await attempt(['go', 'vet', ...flags, './...'], inClient)
  return [format, vet].map(({ stdout, stderr }) => `${stdout}${stderr}`).join('')
}
