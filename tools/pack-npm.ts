// Packs a package that can be used without this repository: `npm run pack:npm -- ovsdb [DIRECTORY]`. Prints the path of the tarball.
// In the workspace a package exports its TypeScript, which Node does not load from node_modules. The tarball has JavaScript and types
// instead, and `publishConfig` of its package.json replaces the fields of the same name. It is built in a temporary directory, because
// other programs may run from the workspace meanwhile.
import { execFile } from 'node:child_process'
import { copyFile, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const run = promisify(execFile)

interface Manifest {
  readonly scripts?: object
  readonly publishConfig?: object
}

export async function packNpm(name: string, directory: string): Promise<string> {
  const home = join(ROOT, 'packages', name)
  await using stage = await mkdtempDisposable(join(tmpdir(), 'pack-npm-'))
  const built = join(stage.path, 'dist')
  await run('npm', ['run', '-s', 'build', '-w', home, '--', '--outDir', built], { cwd: ROOT })
  const text = await readFile(join(home, 'package.json'), 'utf8')
  const { scripts: _, publishConfig, ...kept } = JSON.parse(text) as Manifest
  const manifest = JSON.stringify({ ...kept, ...publishConfig }, null, 2)
  await writeFile(join(stage.path, 'package.json'), `${manifest}\n`)
  await copyFile(join(home, 'README.md'), join(stage.path, 'README.md'))
  await copyFile(join(ROOT, 'LICENSE'), join(stage.path, 'LICENSE'))
  const pack = ['pack', '--silent', '--pack-destination', directory]
  const { stdout } = await run('npm', pack, { cwd: stage.path })
  return join(directory, stdout.trim())
}

if (import.meta.main) {
  const [name, directory = process.cwd()] = process.argv.slice(2)
  if (name === undefined) throw new Error('name a package: api-client, libvirt or ovsdb')
  console.log(await packNpm(name, directory))
}
