// The third-party modules that the product needs at run time, as fixed by the lock file.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Module {
  /** Its directory in the tree, such as node_modules/pino. */
  readonly directory: string
  readonly version: string
  readonly license: string
}

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  /** The platforms on which it can be used; missing: all. */
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}

/** The platform of the package. */
const fits = ({ os, cpu, libc }: Locked): boolean =>
  (os?.includes('linux') ?? true) &&
  (cpu?.includes('x64') ?? true) &&
  (libc?.includes('glibc') ?? true)

/** All third-party modules that the given workspaces depend on, directly or indirectly. */
export async function runTimeModules(
  root: string,
  workspaces: readonly string[],
): Promise<readonly Module[]> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> }
  const reached = new Set<string>()
  const visit = (directory: string): void => {
    if (reached.has(directory)) return
    reached.add(directory)
    const { dependencies = {}, optionalDependencies = {} } = packages[directory] ?? {}
    for (const name of Object.keys(dependencies)) {
      const place = placeOf(packages, directory, name)
      if (place === undefined) {
        throw new Error(`the lock file has no ${name}, which ${directory} needs`)
      }
      visit(targetOf(packages, place))
    }
    // For example a program that was built for another platform.
    for (const name of Object.keys(optionalDependencies)) {
      const place = placeOf(packages, directory, name)
      if (place !== undefined && fits(packages[place] ?? {})) visit(place)
    }
  }
  for (const workspace of workspaces) visit(workspace)
  return (
    [...reached]
      .filter((directory) => directory.startsWith('node_modules/'))
      // Types only.
      .filter((directory) => !directory.includes('node_modules/@types/'))
      .sort()
      .map((directory) => {
        const { version = '', license = '' } = packages[directory] ?? {}
        return { directory, version, license }
      })
  )
}

/** Node's module resolution: the nearest node_modules first, then those above. */
function placeOf(
  packages: Readonly<Record<string, Locked>>,
  directory: string,
  name: string,
): string | undefined {
  for (let at = directory; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (at === '') return undefined
  }
}

/** A workspace is a link in node_modules. */
function targetOf(packages: Readonly<Record<string, Locked>>, place: string): string {
  const { link, resolved } = packages[place] ?? {}
  return link && resolved !== undefined ? resolved : place
}
