// Keycloak, downloaded once from Maven Central and kept outside the repository.
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { cacheDirectory } from '../system/cache-directory.ts'
import { lockFile } from '../system/lock-file.ts'
import { attempt, run } from '../system/run.ts'

export const keycloakVersion = '26.7.3'
const FOLDER = `keycloak-${keycloakVersion}`
const ARCHIVE = `https://repo1.maven.org/maven2/org/keycloak/keycloak-quarkus-dist/${keycloakVersion}/keycloak-quarkus-dist-${keycloakVersion}.zip`
const SHA_256 = '27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f'
/** Keycloak 26 needs it. */
const JAVA_MIN = 17
/** Keeps it small on a shared machine. */
export const keycloakHeap = ['-Xms64m', '-Xmx400m'] as const
/** Chosen when it is built: data in memory, so that each start is a new one. */
const BUILD = ['--db=dev-mem', '--cache=local'] as const

const homeOf = (): string => join(cacheDirectory(), FOLDER)
const programIn = (home: string): string => join(home, 'lib/quarkus-run.jar')
const say = (line: string) => void process.stderr.write(`identity: ${line}\n`)

/** The folder of Keycloak, or undefined if `npm run setup:identity` has not made it. */
export const findKeycloak = (): string | undefined =>
  existsSync(programIn(homeOf())) ? homeOf() : undefined

/** The folder of Keycloak; downloads and builds it first if it is missing. Concurrent callers wait for the same one. */
export async function keycloakProgram(): Promise<string> {
  const home = homeOf()
  if (findKeycloak() !== undefined) return home
  await mkdir(cacheDirectory(), { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (findKeycloak() === undefined) await install(home)
  return home
}

async function install(home: string): Promise<void> {
  const missing = await whyNotJava()
  if (missing !== undefined) throw new Error(missing)
  say(`downloading Keycloak ${keycloakVersion}; this happens once`)
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    const zip = join(unfinished, 'keycloak.zip')
    await run(['curl', '-fsSL', '--retry', '5', '--retry-all-errors', '-o', zip, ARCHIVE])
    const digest = createHash('sha256')
    await pipeline(createReadStream(zip), digest)
    const found = digest.digest('hex')
    if (found !== SHA_256) throw new Error(`${ARCHIVE} has the digest ${found}, not ${SHA_256}`)
    await run(['unzip', '-q', zip, '-d', unfinished])
    say('building Keycloak; this takes a minute of processor time')
    await run([join(unfinished, FOLDER, 'bin/kc.sh'), 'build', ...BUILD], {
      env: { ...process.env, JAVA_OPTS_KC_HEAP: keycloakHeap.join(' ') },
    })
    await rename(join(unfinished, FOLDER), home)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Why Keycloak cannot run here, or undefined if it can. */
export async function whyNotJava(): Promise<string | undefined> {
  const found = await attempt(['java', '-version']).catch(() => undefined)
  const version = Number(/version "(\d+)/.exec(found?.stderr ?? '')?.[1] ?? 0)
  if (version >= JAVA_MIN) return undefined
  return `needs Java ${JAVA_MIN} or newer on PATH, such as Debian's openjdk-17-jre-headless`
}
