import { readFile, stat } from 'node:fs/promises'

/** The files with the machine's users and groups. */
export interface Registers {
  readonly group: string
  readonly passwd: string
}

export const systemRegisters: Registers = { group: '/etc/group', passwd: '/etc/passwd' }

export interface GroupMembers {
  /** Undefined if the machine has no such group. */
  readonly gid: number | undefined
  readonly uids: ReadonlySet<number>
}

/** The members of a group; the files are read again only after one of them has changed. */
export class Members {
  readonly #name: string
  readonly #registers: Registers
  #seen = ''
  #known: GroupMembers = { gid: undefined, uids: new Set() }

  constructor(name: string, registers: Registers = systemRegisters) {
    this.#name = name
    this.#registers = registers
  }

  async read(): Promise<GroupMembers> {
    const files = [this.#registers.group, this.#registers.passwd]
    const stamp = (await Promise.all(files.map(stampOf))).join(' ')
    if (stamp === this.#seen) return this.#known
    const [group = '', passwd = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    this.#known = findMembers(group, passwd, this.#name)
    this.#seen = stamp
    return this.#known
  }
}

/** Users listed as members of the group, and users whose primary group it is. */
export function findMembers(group: string, passwd: string, name: string): GroupMembers {
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
