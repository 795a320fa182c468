// OpenTofu, built once from Go modules and kept outside the repository; Terraform or OpenTofu of the machine is used instead if it is there.
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from '../../tools/lab/src/system/cache-directory.ts'
import { lockFile } from '../../tools/lab/src/system/lock-file.ts'
import { attempt, run } from '../../tools/lab/src/system/run.ts'

const VERSION = '1.12.6'
const MODULE = join(import.meta.dirname, '../../clients/terraform/tofu')
/** Write-only attributes exist from these versions on. */
const OLDEST = [1, 11] as const

export interface TofuProgram {
  readonly path: string
  /** Such as `OpenTofu v1.12.6`. */
  readonly name: string
}

const ownProgram = (): string => join(cacheDirectory(), `tofu-${VERSION}`, 'tofu')

/** Why the provider cannot be built here, or undefined if it can. */
export async function reasonWithoutGo(): Promise<string | undefined> {
  const found = await attempt(['go', 'version']).catch(() => undefined)
  return found?.code === 0 ? undefined : 'needs Go 1.26 or newer on PATH'
}

/** The first that is there: our build, then tofu and terraform on PATH. */
export async function findTofu(): Promise<TofuProgram | undefined> {
  const own = existsSync(ownProgram()) ? [ownProgram()] : []
  for (const path of [...own, 'tofu', 'terraform']) {
    const found = await attempt([path, 'version']).catch(() => undefined)
    const [, name = '', major, minor] =
      /^((?:OpenTofu|Terraform) v(\d+)\.(\d+)\.\S+)/m.exec(found?.stdout ?? '') ?? []
    if (Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])) {
      return { path, name }
    }
  }
  return undefined
}

/** The same; builds OpenTofu first if there is none. */
export async function requireTofu(): Promise<TofuProgram> {
  const found = await findTofu()
  if (found) return found
  const path = ownProgram()
  const home = join(path, '..')
  await mkdir(home, { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (!existsSync(path)) await build(path)
  return { path, name: `OpenTofu v${VERSION}` }
}

async function build(path: string): Promise<void> {
  process.stderr.write(`tofu: building ${VERSION}; this happens once and takes several minutes\n`)
  const unfinished = `${path}.unfinished`
  const flags = ['-mod=readonly', '-trimpath', '-ldflags=-s -w']
  await run(['go', 'build', ...flags, '-o', unfinished, 'github.com/opentofu/opentofu/cmd/tofu'], {
    cwd: MODULE,
    env: { ...process.env, CGO_ENABLED: '0' },
    loud: true,
  })
  await rename(unfinished, path)
}
