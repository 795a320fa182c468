// Finds the files of this repository that a file uses: by import, or by a program's path in a string.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g
/** Paths of started programs: 'cell-process.ts', '../../../apps/vmd/src/main.ts', `${ROOT}/tools/x.ts`. */
const PROGRAM = /[`'"](?:\$\{\w+\}\/)?([\w./-]+\.ts)[`'"]/g

export interface Sources {
  text(file: string): string
  /** The file and its transitive imports. */
  imported(file: string): ReadonlySet<string>
  /** The same, including programs that are started by path. */
  reached(file: string): ReadonlySet<string>
}

/** Reads source files below a directory. Paths are relative to it. */
export function readSources(root: string): Sources {
  const texts = new Map<string, string>()
  const text = (file: string): string => {
    const known = texts.get(file) ?? readFileSync(join(root, file), 'utf8')
    texts.set(file, known)
    return known
  }
  const isSource = (file: string) =>
    /^[^.].*\.ts$/.test(file) &&
    statSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true

  const importsOf = remembered((file) =>
    namesIn(text(file), IMPORT)
      .map((name) => (name.startsWith('.') ? join(dirname(file), name) : entryOf(name)))
      .filter(isSource),
  )
  const programsOf = remembered((file) =>
    namesIn(text(file), PROGRAM)
      .flatMap((path) => [join(dirname(file), path), join(path)])
      .filter(isSource),
  )
  return {
    text,
    imported: remembered((file) => closure(file, importsOf)),
    reached: remembered((file) =>
      closure(file, (each) => [...importsOf(each), ...programsOf(each)]),
    ),
  }
}

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name)

/** The file of a workspace name; empty for other packages. */
function entryOf(name: string): string {
  const [, workspace] = /^@skerry\/([\w-]+)$/.exec(name) ?? []
  if (workspace === undefined) return ''
  return workspace === 'lab' ? 'tools/lab/src/index.ts' : `packages/${workspace}/src/index.ts`
}

function remembered<T>(find: (file: string) => T): (file: string) => T {
  const found = new Map<string, T>()
  return (file) => {
    const known = found.get(file) ?? find(file)
    found.set(file, known)
    return known
  }
}

function closure(file: string, next: (file: string) => readonly string[]): ReadonlySet<string> {
  const all = new Set([file])
  // Iterating a set includes entries added meanwhile.
  for (const each of all) for (const other of next(each)) all.add(other)
  return all
}
