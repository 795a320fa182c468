// The only file that knows the LDAP client.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { Fault } from '@skerry/fault'
import {
  AndFilter,
  Client,
  ConstraintViolationError,
  EqualityFilter,
  ExtensibleFilter,
  FilterParser,
  InappropriateAuthError,
  InvalidCredentialsError,
  NoSuchObjectError,
  OrFilter,
  ResultCodeError,
  UnwillingToPerformError,
  type Entry,
  type Filter,
  type SearchOptions,
} from 'ldapts'

import type { DirectoryGroup, LdapSettings, Person } from '../domain/ldap-settings.ts'
import { refusalIn, type DirectoryRefusal } from './refusals.ts'

/** How long a directory may take. A login that takes longer is 503, and counts as no attempt. */
export const directoryMs = { connect: 2000, answer: 5000, whole: 10_000 } as const

/** The settings of a directory, and the password of its reader. */
export interface DirectoryAccess {
  readonly name: string
  readonly settings: LdapSettings
  readonly secret: string
}

/** Bytes that a directory may send before TLS: the answer to StartTLS has a few dozen. */
const CLEAR_MAX = 4096
/** Levels of groups in groups that are followed. */
const LEVELS_MAX = 8
/** RFC 4511: a search for a person finds at most one; two are none. */
const ONE_AND_ANOTHER = 2
/** Active Directory: matches groups in groups in one search. */
const IN_CHAIN = '1.2.840.113556.1.4.1941'
/** Active Directory: the bit of userAccountControl that disables an account. */
const ACCOUNT_DISABLED = 2
const PAGE = 500

export type Proof =
  | { readonly person: Person }
  | { readonly refusal: DirectoryRefusal }
  | 'wrong'
  | 'unknown'

/** Whether the text is an LDAP filter. */
export function isFilter(text: string): boolean {
  try {
    FilterParser.parseString(text)
    return true
  } catch {
    return false
  }
}

/** Proves a person by name and password. No DN and no filter is ever composed of what somebody typed. */
export async function provePerson(
  access: DirectoryAccess,
  user: string,
  password: string,
): Promise<Proof> {
  // RFC 4513, 5.1.2: a bind without a password succeeds, as anonymous. It never reaches the server.
  if (user === '' || password === '') return 'wrong'
  const { settings } = access
  return asReader(access, async (reader, connections) => {
    const found = await searchPeople(reader, settings, byName(settings, user))
    const [entry] = found.length === 1 ? found : []
    // A missing person takes as much time as an existing one.
    const dn = entry?.dn ?? `cn=missing,${settings.people.base}`
    const answer = await tryPassword(await connections.open(), dn, password)
    if (!entry) return 'unknown'
    if (answer === 'wrong') return 'wrong'
    if (answer !== 'right') return { refusal: answer }
    return { person: await personOf(reader, settings, entry, new Map()) }
  })
}

/** The people with these subjects; missing ones are not in the result. */
export async function readPeople(
  access: DirectoryAccess,
  subjects: readonly string[],
  known: Map<string, Promise<readonly DirectoryGroup[]>>,
): Promise<ReadonlyMap<string, Person>> {
  const { settings } = access
  return asReader(
    access,
    async (reader) => {
      const filters = subjects.map((subject) => bySubject(settings, subject))
      // Without a limit of ours: the client would take what exceeds it for the whole, and the rest for people who left.
      const entries = await searchPeople(reader, settings, new OrFilter({ filters }), 0)
      const people = await Promise.all(
        entries.map((entry) => personOf(reader, settings, entry, known)),
      )
      return new Map(people.map((person) => [person.subject, person]))
    },
    PASS_MS,
  )
}

/** A pass may take longer than a login: a hundred people and their groups are asked for. */
const PASS_MS = 60_000

/** How many people and groups the reader finds. */
export async function countEntries(
  access: DirectoryAccess,
): Promise<{ readonly people: number; readonly groups: number }> {
  const { settings } = access
  return asReader(
    access,
    async (reader) => {
      const counted: SearchOptions = {
        attributes: ['1.1'],
        paged: { pageSize: PAGE },
        scope: 'sub',
      }
      const people = await reader.search(settings.people.base, {
        ...counted,
        filter: FilterParser.parseString(settings.people.filter),
      })
      const groups = await reader.search(settings.groups.base, {
        ...counted,
        filter: `(${settings.groups.member}=*)`,
      })
      return { people: people.searchEntries.length, groups: groups.searchEntries.length }
    },
    PASS_MS,
  )
}

/** Runs `work` as the reader, at the first address that answers. */
async function asReader<T>(
  { name, settings, secret }: DirectoryAccess,
  work: (reader: Client, connections: Connections) => Promise<T>,
  wholeMs: number = directoryMs.whole,
): Promise<T> {
  const failures: unknown[] = []
  for (const url of settings.urls) {
    let isOpen = false
    const connections = new Connections(url, settings)
    try {
      return await within(wholeMs, async () => {
        const reader = await connections.open()
        await reader.bind(settings.reader, secret)
        isOpen = true
        return work(reader, connections)
      })
    } catch (error) {
      if (error instanceof InvalidCredentialsError) {
        throw new Fault('unavailable', `identity server ${name} rejects its reader`, {
          cause: error,
        })
      }
      failures.push(error)
      // An answer that is an error would be the same at the next address.
      if (isOpen && error instanceof ResultCodeError) break
    } finally {
      connections.close()
    }
  }
  throw new Fault('unavailable', `identity server ${name} does not answer`, {
    cause: failures.length === 1 ? failures[0] : new AggregateError(failures),
    hint: 'try again later',
  })
}

async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([work(), promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The connections of one question: all of them are closed at its end, also those that hang. */
class Connections {
  readonly #url: string
  readonly #settings: LdapSettings
  readonly #clients: Client[] = []

  constructor(url: string, settings: LdapSettings) {
    this.#url = url
    this.#settings = settings
  }

  /** TLS or nothing: a password never crosses a network in the clear. Referrals are not followed. */
  async open(): Promise<Client> {
    const { startTls, ca } = this.#settings
    const host = new URL(this.#url).hostname.replace(/^\[|\]$/g, '')
    const tls = {
      minVersion: 'TLSv1.2' as const,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca }),
    }
    const times = { timeout: directoryMs.answer, connectTimeout: directoryMs.connect }
    let received = Buffer.alloc(0)
    const clear = (...words: Parameters<typeof connect>): Socket => {
      const socket = connect(...words)
      return socket.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes])
        if (received.length > CLEAR_MAX) socket.destroy()
      })
    }
    const client = new Client({
      url: this.#url,
      ...times,
      ...(startTls
        ? { createConnection: once(clear) as typeof connect }
        : { tlsOptions: tls, createSecureConnection: once(connectTls) as typeof connectTls }),
    })
    this.#clients.push(client)
    if (startTls) {
      // A copy: the client stores its socket in what it is given.
      await client.startTLS({ ...tls })
      // RFC 4511, 4.14.1: nothing follows the answer. The client would take the rest for the beginning of what comes encrypted.
      if (!isOneMessage(received)) throw new Error('more than an answer came before TLS')
    }
    return client
  }

  /** No one waits for the end of a connection that hangs. */
  close(): void {
    for (const client of this.#clients) client.unbind().catch(() => undefined)
  }
}

/**
 * Connects once. The client would connect again when a connection is lost, without StartTLS and not as the reader: that a stranger
 * finds no one does not mean that people have left.
 */
function once<W extends unknown[], S>(make: (...words: W) => S): (...words: W) => S {
  let isMade = false
  return (...words) => {
    if (isMade) throw new Error('the connection was lost')
    isMade = true
    return make(...words)
  }
}

/** Whether these bytes are one whole LDAP message: a tag, a length of one byte or more, and the rest. */
function isOneMessage(bytes: Buffer): boolean {
  const [, length = 0] = bytes
  const more = length < 0x80 ? 0 : length - 0x80
  if (more > 4 || bytes.length < 2 + more) return false
  return bytes.length === 2 + more + (more === 0 ? length : bytes.readUIntBE(2, more))
}

/** What a directory answers to a wrong password, and for people who are locked, expired or unknown. Other errors are its own. */
const refusals = [
  InvalidCredentialsError,
  NoSuchObjectError,
  InappropriateAuthError,
  ConstraintViolationError,
  UnwillingToPerformError,
] as const

async function tryPassword(
  client: Client,
  dn: string,
  password: string,
): Promise<'right' | 'wrong' | DirectoryRefusal> {
  try {
    await client.bind(dn, password)
    return 'right'
  } catch (error) {
    if (error instanceof InvalidCredentialsError) return refusalIn(error.message) ?? 'wrong'
    if (refusals.some((kind) => error instanceof kind)) return 'wrong'
    throw error
  }
}

/** Whether it is an Active Directory, whose subjects are bytes. */
const isBinary = ({ people }: LdapSettings): boolean =>
  people.subject.toLowerCase() === 'objectguid'

/** In Active Directory a person has a second name, such as alice@corp.example. The account here has the first one. */
function byName(settings: LdapSettings, user: string): Filter {
  const usual = new EqualityFilter({ attribute: settings.people.name, value: user })
  if (!isBinary(settings) || !user.includes('@')) return usual
  const principal = new EqualityFilter({ attribute: 'userPrincipalName', value: user })
  return new OrFilter({ filters: [usual, principal] })
}

const bySubject = (settings: LdapSettings, subject: string): EqualityFilter =>
  new EqualityFilter({
    attribute: settings.people.subject,
    value: isBinary(settings) ? Buffer.from(subject, 'hex') : subject,
  })

async function searchPeople(
  reader: Client,
  settings: LdapSettings,
  filter: Filter,
  most: number = ONE_AND_ANOTHER,
): Promise<Entry[]> {
  const { base, filter: kind, name, subject } = settings.people
  const { searchEntries } = await reader.search(base, {
    scope: 'sub',
    filter: new AndFilter({ filters: [FilterParser.parseString(kind), filter] }),
    sizeLimit: most,
    attributes: [name, subject, 'userAccountControl'],
    ...(isBinary(settings) && { explicitBufferAttributes: [subject] }),
  })
  return searchEntries
}

/** The first value of an attribute. A directory may write its name in another case. */
function valueOf(entry: Entry, attribute: string): string {
  const wanted = attribute.toLowerCase()
  const [, value] = Object.entries(entry).find(([name]) => name.toLowerCase() === wanted) ?? []
  const first = Array.isArray(value) ? value[0] : value
  return Buffer.isBuffer(first) ? first.toString('hex') : (first ?? '')
}

async function personOf(
  reader: Client,
  settings: LdapSettings,
  entry: Entry,
  known: Map<string, Promise<readonly DirectoryGroup[]>>,
): Promise<Person> {
  const { name, subject } = settings.people
  const found = { subject: valueOf(entry, subject), name: valueOf(entry, name) }
  if (found.subject === '' || found.name === '') {
    throw new Fault('unavailable', `the reader cannot read ${name} and ${subject} of a person`)
  }
  const flags = Number(valueOf(entry, 'userAccountControl') || '0')
  const enabled = Math.floor(flags / ACCOUNT_DISABLED) % 2 === 0
  return { ...found, enabled, groups: await groupsOf(reader, settings, entry.dn, known) }
}

/**
 * The groups of a person, with those that contain these. Asked by the members of groups, which every directory answers:
 * `memberOf` is optional in some. A ring of groups ends by itself. `known`: groups that contain a group, found before.
 */
async function groupsOf(
  reader: Client,
  settings: LdapSettings,
  person: string,
  known: Map<string, Promise<readonly DirectoryGroup[]>>,
): Promise<readonly DirectoryGroup[]> {
  const direct = await groupsWith(reader, settings, person)
  if (settings.groups.nested === 'rule') return direct
  const found = new Map(direct.map((group) => [group.dn, group]))
  let wave = direct
  for (let level = 1; wave.length > 0 && level < LEVELS_MAX; level += 1) {
    const above = await Promise.all(
      wave.map(({ dn }) => {
        const asked = known.get(dn) ?? groupsWith(reader, settings, dn)
        known.set(dn, asked)
        return asked
      }),
    )
    wave = above.flat().filter(({ dn }) => !found.has(dn))
    for (const group of wave) found.set(group.dn, group)
  }
  return [...found.values()]
}

async function groupsWith(
  reader: Client,
  { groups }: LdapSettings,
  value: string,
): Promise<readonly DirectoryGroup[]> {
  const { base, member, name, nested } = groups
  const filter =
    nested === 'rule'
      ? new ExtensibleFilter({ matchType: member, rule: IN_CHAIN, value })
      : new EqualityFilter({ attribute: member, value })
  const { searchEntries } = await reader.search(base, { scope: 'sub', filter, attributes: [name] })
  return searchEntries.map((entry) => ({ dn: entry.dn, name: valueOf(entry, name) }))
}
