import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Where the machine writes down its users, each with a home. */
const REGISTER = '/etc/passwd'
const HOMES = '/home'

/**
 * Whether a real path is, or lies below, a directory of a home whose name begins with a dot: there programs keep keys and
 * settings. Homes are those below /home, wherever that leads, and those that the machine's register names.
 */
export async function isInDotDirectory(real: string, register = REGISTER): Promise<boolean> {
  const holders = [...real.matchAll(/\/\./g)].map(({ index }) => real.slice(0, index) || '/')
  if (holders.length === 0) return false
  const homes = await realpath(HOMES).catch(() => HOMES)
  if (holders.some((holder) => dirname(holder) === homes)) return true
  const users = (await readFile(register, 'utf8')).split('\n').map((line) => line.split(':'))
  for (const holder of holders) {
    const { dev, ino, uid } = await stat(holder)
    // Others' homes are not even looked at: that alone can mount them from far away.
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
