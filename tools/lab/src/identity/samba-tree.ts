// A Debian with Samba and a new Active Directory domain in it, built once and kept outside the repository.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from '../system/cache-directory.ts'
import { lockFile } from '../system/lock-file.ts'
import { requirePrograms } from '../system/packages.ts'
import { run } from '../system/run.ts'

const SUITE = 'bookworm'
const PACKAGES = [
  'samba',
  'samba-ad-provision',
  'samba-dsdb-modules',
  'samba-vfs-modules',
  'winbind',
  'python3-samba',
] as const

/** The domain. */
export const activeDirectory = {
  realm: 'corp.example',
  base: 'DC=corp,DC=example',
  host: 'dc1',
  adminPassword: 'Admin-secret-1',
} as const

const homeOf = (): string => join(cacheDirectory(), `samba-${SUITE}-1`)
const say = (line: string) => void process.stderr.write(`identity: ${line}\n`)

/** The root of the tree, or undefined if `npm run setup:identity` has not made it. */
export const findSambaTree = (): string | undefined => (existsSync(homeOf()) ? homeOf() : undefined)

/** The root of the tree; builds it first if it is missing. Concurrent callers wait for the same one. */
export async function sambaTree(): Promise<string> {
  const home = homeOf()
  if (findSambaTree() !== undefined) return home
  requirePrograms('debian')
  await mkdir(cacheDirectory(), { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (findSambaTree() === undefined) await build(home)
  return home
}

/** A command in namespaces of its own, as the host of the domain: its loopback is the only network, and its end ends all of it. */
export function asDomainHost(script: string, ...also: readonly string[]): string[] {
  const namespaces = ['--uts', '--mount', '--pid', '--fork', '--kill-child', ...also]
  const whole = `set -e; hostname ${activeDirectory.host}; ${script}`
  return ['unshare', ...namespaces, 'sh', '-c', whole]
}

async function build(home: string): Promise<void> {
  say('installing Samba into a tree of its own; this happens once and takes some minutes')
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    const root = join(unfinished, 'root')
    await run([
      'mmdebstrap',
      '--mode=root',
      '--variant=apt',
      `--include=${PACKAGES.join(',')}`,
      '--aptopt=APT::Install-Recommends "false"',
      '--aptopt=Acquire::Retries "3"',
      SUITE,
      root,
    ])
    say('creating the domain')
    await rm(join(root, 'etc/samba/smb.conf'), { force: true })
    const { realm, adminPassword } = activeDirectory
    const domain = realm.split('.')[0]?.toUpperCase() ?? ''
    const provision = `samba-tool domain provision --realm=${realm.toUpperCase()} --domain=${domain} \
      --adminpass=${adminPassword} --server-role=dc --dns-backend=NONE --host-ip=127.0.0.1`
    const log = join(unfinished, 'provision.log')
    await writeFile(log, '')
    await run(
      asDomainHost(
        `ip link set lo up; mount -t proc proc ${root}/proc; chroot ${root} ${provision} >${log} 2>&1 || { cat ${log} >&2; exit 1; }`,
        '--net',
      ),
    )
    await rename(root, home)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
