// What an administrator of an Active Directory does, by LDAP.
import type { Samba } from '@skerry/lab'
import { Attribute, Change, Client, InvalidCredentialsError } from 'ldapts'

/** An account that can log in, and one that is disabled: userAccountControl. */
const [ENABLED, DISABLED] = ['512', '514'] as const
/** Before all times of Active Directory that are of interest: a second after its epoch. */
const LONG_AGO = '10000000'
/** Active Directory takes passwords in quotes, and in UTF-16. */
const coded = (password: string): Buffer => Buffer.from(`"${password}"`, 'utf16le')

export const passwordOf = (name: string): string => `Secret-of-${name}-1`

export class DirectoryAdministration implements AsyncDisposable {
  readonly #samba: Samba
  readonly #client: Client

  constructor(samba: Samba) {
    this.#samba = samba
    this.#client = this.#open()
  }

  #open(): Client {
    const { url, ca } = this.#samba
    return new Client({ url, tlsOptions: { ca } })
  }

  async begin(): Promise<void> {
    const { dn, password } = this.#samba.admin
    await this.#client.bind(dn, password)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.unbind()
  }

  /** The names of a person differ: the common name, the account name, and the principal. */
  dnOf = (name: string): string => `CN=Person ${name},CN=Users,${this.#samba.base}`
  #groupOf = (name: string): string => `CN=${name},CN=Users,${this.#samba.base}`

  async addPerson(name: string, password = passwordOf(name)): Promise<void> {
    await this.#client.add(this.dnOf(name), [
      new Attribute({ type: 'objectClass', values: ['user'] }),
      new Attribute({ type: 'sAMAccountName', values: [name] }),
      new Attribute({ type: 'userPrincipalName', values: [`${name}.example@corp.example`] }),
      new Attribute({ type: 'unicodePwd', values: [coded(password)] }),
      new Attribute({ type: 'userAccountControl', values: [ENABLED] }),
    ])
  }

  /** A group of these people and groups. */
  async addGroup(name: string, people: readonly string[], groups: readonly string[] = []) {
    const member = [...people.map(this.dnOf), ...groups.map(this.#groupOf)]
    await this.#client.add(this.#groupOf(name), {
      objectClass: ['group'],
      sAMAccountName: name,
      member,
    })
  }

  disable = (name: string) => this.#set(this.dnOf(name), 'userAccountControl', DISABLED)
  enable = (name: string) => this.#set(this.dnOf(name), 'userAccountControl', ENABLED)
  /** The person must choose another password at the next login. */
  requireNewPassword = (name: string) => this.#set(this.dnOf(name), 'pwdLastSet', '0')
  endAccount = (name: string) => this.#set(this.dnOf(name), 'accountExpires', LONG_AGO)
  remove = (name: string) => this.#client.del(this.dnOf(name))

  /** Locks a person by wrong passwords, as many as the domain allows. */
  async lock(name: string): Promise<void> {
    const wrong = 3
    await this.#set(this.#samba.base, 'lockoutThreshold', String(wrong))
    for (let n = 0; n < wrong; n += 1) {
      const client = this.#open()
      try {
        await client.bind(this.dnOf(name), 'wrong')
      } catch (error) {
        if (!(error instanceof InvalidCredentialsError)) throw error
      } finally {
        await client.unbind()
      }
    }
  }

  async #set(dn: string, type: string, value: string): Promise<void> {
    const modification = new Attribute({ type, values: [value] })
    await this.#client.modify(dn, new Change({ operation: 'replace', modification }))
  }
}
