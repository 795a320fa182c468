// Builds the Debian package reproducibly: the same commit gives the same bytes, on any machine at any time, with a Temporal that the same Go built.
// Usage: node tools/package/build-deb.ts [--version V] [--out DIRECTORY] [--quick] [--judge]
//   --quick uses weak compression, for tests. --judge runs lintian, and fails on an error or a warning.
// Prints the path of the package.
import type { Dirent } from 'node:fs'
import {
  chmod,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { run } from '../lab/src/system/run.ts'
import { stage } from './stage.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONTROL = join(import.meta.dirname, 'debian')
const SCRIPTS = ['postinst', 'prerm', 'postrm']

export interface BuildOptions {
  /** Default: that of package.json. */
  readonly version?: string
  readonly out: string
  readonly quick?: boolean
}

/** Builds the package and returns its file. */
export async function buildDeb(options: BuildOptions): Promise<string> {
  const version = options.version ?? (await versionOf(ROOT))
  const date = new Date(1000 * (await epoch()))
  const work = await mkdtemp(join(tmpdir(), 'skerry-deb-'))
  try {
    const tree = join(work, 'tree')
    await stage(tree, { version, date })
    await writeControl(tree, version)
    // The top directory is in the package too.
    for (const entry of await walk(work)) await settle(entry, date)
    await mkdir(options.out, { recursive: true })
    const deb = resolve(options.out, `skerry_${version}_amd64.deb`)
    // One thread: several would split the data differently, and the bytes would differ between machines.
    const packing = options.quick ? ['-Zzstd', '-z1'] : ['-Zxz', '--threads-max=1']
    await run(['dpkg-deb', '--root-owner-group', ...packing, '--build', tree, deb], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) },
    })
    return deb
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function versionOf(root: string): Promise<string> {
  const text = await readFile(join(root, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The time of the commit, unless the environment sets another one. */
async function epoch(): Promise<number> {
  const told = process.env['SOURCE_DATE_EPOCH']
  return Number(told ?? (await run(['git', 'log', '-1', '--format=%ct'], { cwd: ROOT })))
}

async function writeControl(tree: string, version: string): Promise<void> {
  const files = (await walk(tree)).filter((entry) => entry.isFile()).map(pathOf)
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
  const kib = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024)
  const debian = join(tree, 'DEBIAN')
  await mkdir(debian)
  for (const name of [...SCRIPTS, 'conffiles']) {
    await writeFile(join(debian, name), await readFile(join(CONTROL, name)))
  }
  const control = await readFile(join(CONTROL, 'control'), 'utf8')
  await writeFile(
    join(debian, 'control'),
    control.replace('@VERSION@', version).replace('@KIB@', String(kib)),
  )
  const etc = join(tree, 'etc/')
  const summed = files.filter((file) => !file.startsWith(etc))
  const names = summed.map((file) => file.slice(tree.length + 1))
  await writeFile(join(debian, 'md5sums'), await run(['md5sum', ...names], { cwd: tree }))
}

/** Modes and times that do not depend on the builder and the umask. */
async function settle(entry: Dirent, date: Date): Promise<void> {
  const path = pathOf(entry)
  if (!entry.isSymbolicLink()) {
    const { mode } = await stat(path)
    const isProgram =
      entry.isDirectory() ||
      ((mode & 0o100) !== 0 && !path.includes('/node_modules/')) ||
      (path.includes('/DEBIAN/') && SCRIPTS.includes(entry.name))
    await chmod(path, isProgram ? 0o755 : 0o644)
  }
  await lutimes(path, date, date)
}

/** Everything below a directory, in a fixed order; readdir's recursion would follow links. */
async function walk(directory: string): Promise<readonly Dirent[]> {
  const found: Dirent[] = []
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    found.push(entry)
    if (entry.isDirectory()) found.push(...(await walk(pathOf(entry))))
  }
  return found.sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1))
}

const pathOf = ({ parentPath, name }: Dirent): string => join(parentPath, name)

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      version: { type: 'string' },
      out: { type: 'string', default: join(ROOT, 'dist') },
      quick: { type: 'boolean', default: false },
      judge: { type: 'boolean', default: false },
    },
  })
  const { version, out, quick, judge } = values
  try {
    const deb = await buildDeb({ out, quick, ...(version !== undefined && { version }) })
    if (judge) await run(['lintian', '--fail-on', 'error,warning', deb])
    console.log(deb)
  } catch (error) {
    console.error(`package: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
