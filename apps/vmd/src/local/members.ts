import { readFile, stat } from 'node:fs/promises'

/** Where the machine writes down its users and groups. */
export interface Registers {
  readonly group: string
  readonly passwd: string
}

export const systemRegisters: Registers = { group: '/etc/group', passwd: '/etc/passwd' }

export interface Membership {
  /** Undefined while the machine has no such group. */
  readonly gid: number | undefined
  readonly uids: ReadonlySet<number>
}

/** Who is in a group: read again only after one of the files has changed. */
export class Members {
  readonly #name: string
  readonly #registers: Registers
  #seen = ''
  #known: Membership = { gid: undefined, uids: new Set() }

  constructor(name: string, registers: Registers = systemRegisters) {
    this.#name = name
    this.#registers = registers
  }

  async read(): Promise<Membership> {
    const files = [this.#registers.group, this.#registers.passwd]
    const stamp = (await Promise.all(files.map(stampOf))).join(' ')
    if (stamp === this.#seen) return this.#known
    const [group = '', passwd = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    this.#known = findMembers(group, passwd, this.#name)
    this.#seen = stamp
    return this.#known
  }
}

/** Those whom the group's line names, and those whose own group it is. */
export function findMembers(group: string, passwd: string, name: string): Membership {
  const line = rowsOf(group).find(([first]) => first === name)
  const gid = toId(line?.[2])
  if (gid === undefined) return { gid, uids: new Set() }
  const named = new Set(line?.[3]?.split(',').filter((each) => each !== ''))
  const users = rowsOf(passwd).filter(
    ([user = '', , , own]) => named.has(user) || toId(own) === gid,
  )
  return {
    gid,
    uids: new Set(users.map(([, , uid]) => toId(uid)).filter((uid) => uid !== undefined)),
  }
}

const rowsOf = (text: string): string[][] => text.split('\n').map((line) => line.split(':'))

const toId = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined

async function stampOf(file: string): Promise<string> {
  const { ino, size, mtimeMs, ctimeMs } = await stat(file)
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
}
