// Finds the test files that a change can affect. Rather one too many than one too few.
import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'

import type { Sources } from './sources.ts'

/** Files that concern the whole repository, and those that run the tests. */
const TOUCHES_ALL = /^[^/]+\.json$|^\.ci\/|^tools\/(ci|setup|debian|run-tests)/

/** Files that differ from the merge base with main: committed, in the work tree, and untracked. */
export function changedFiles(root: string): string[] {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main')
  return [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
}

/** The tests of the repository itself always count as affected: they read all of it. */
export function touchedFiles(
  files: readonly string[],
  changed: readonly string[],
  sources: Sources,
): string[] {
  if (changed.some((file) => TOUCHES_ALL.test(file))) return [...files]
  return files.filter((file) => /^tests\/[^/]+$/.test(file) || isTouched(file, changed, sources))
}

function isTouched(file: string, changed: readonly string[], sources: Sources): boolean {
  const reached = sources.reached(file)
  const rooms = new Set([...reached].map(roomOf))
  return changed.some((each) => {
    if (reached.has(each)) return true
    if (each.endsWith('.ts')) return false
    // SQL, pages, units and similar files are read by path: by a file of the same package, or by one that names it.
    const isRead = (source: string) => sources.text(source).includes(basename(each))
    return rooms.has(roomOf(each)) || [...reached].some(isRead)
  })
}

/** For example apps/cloud, packages/vm, tests/accept, docs/guides. */
const roomOf = (file: string): string => file.split('/').slice(0, 2).join('/')
