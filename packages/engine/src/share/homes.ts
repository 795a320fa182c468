import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The machine's users, each with a home directory. */
const REGISTER = '/etc/passwd'
const HOMES = '/home'

/**
 * Whether a real path is, or lies below, a dot directory of a home: programs keep keys and settings there. Homes are the
 * directories below /home (after resolving it) and those listed in /etc/passwd.
 */
export async function isInDotDirectory(real: string, register = REGISTER): Promise<boolean> {
  const holders = [...real.matchAll(/\/\./g)].map(({ index }) => real.slice(0, index) || '/')
  if (holders.length === 0) return false
  const homes = await realpath(HOMES).catch(() => HOMES)
  if (holders.some((holder) => dirname(holder) === homes)) return true
  const users = (await readFile(register, 'utf8')).split('\n').map((line) => line.split(':'))
  for (const holder of holders) {
    const { dev, ino, uid } = await stat(holder)
    // Other users' homes are not accessed: a stat alone could mount them from the network.
    const own = users.filter(
      ([, , id, , , home]) => home && (Number(id) === uid || home === holder),
    )
    for (const [, , , , , home = ''] of own) {
      const facts = await stat(home).catch(() => undefined)
      if (facts?.dev === dev && facts.ino === ino) return true
    }
  }
  return false
}
