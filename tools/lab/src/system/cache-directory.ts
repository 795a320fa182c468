// The cache for files that take long to build and are the same for all users of this machine.
import { homedir } from 'node:os'
import { join } from 'node:path'

export function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'skerry')
}
