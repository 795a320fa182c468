// Where things are kept that take long to make and are the same for everybody on this machine.
import { homedir } from 'node:os'
import { join } from 'node:path'

export function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'skerry')
}
