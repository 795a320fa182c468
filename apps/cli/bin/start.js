// Starts the CLI with a compile cache, in a third of the time. JavaScript, because TypeScript would be compiled first.
import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { userInfo } from 'node:os'

try {
  // In the home directory from the user database, not $HOME, and only if no other user can write to it: the cache is executed.
  const { homedir, uid } = userInfo()
  const directory = `${homedir}/.cache/skerry/compiled`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const found = lstatSync(directory)
  if (found.uid === uid && (found.mode & 0o077) === 0) enableCompileCache(directory)
} catch {
  // A user without a home directory: no cache.
}
await import('../src/main.ts')
