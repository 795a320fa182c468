// Who may be called: nobody, but those on the organisation's list. Pure: what is decided here is what fetch-out.ts does.
import { Fault } from '@skerry/fault'

import { isPublic, plainAddress } from './addresses.ts'

/** One server that an organisation's workflows may call. */
export interface Rule {
  /** A name, `*.` and a name for all below it, or an address. */
  readonly host: string
  /** 443 alone unless told. */
  readonly ports?: readonly number[]
  /** https alone unless told. */
  readonly schemes?: readonly ('http' | 'https')[]
  /** Addresses inside of our own networks that this name may have: each by itself, never a whole network. */
  readonly addresses?: readonly string[]
}
/** By the organisation's id. */
export type Lists = Readonly<Record<string, readonly Rule[]>>

export interface Target {
  readonly url: URL
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Set where the host is an address itself: nothing is looked up. */
  readonly address: string | undefined
  readonly rule: Rule
}

const refused = (message: string): Fault =>
  new Fault('forbidden', message, {
    hint: 'whoever runs this cloud keeps the list of servers that an organisation may call',
  })

/** Reads an address as strictly as can be, and finds the rule that allows it. */
export function allow(rules: readonly Rule[], uri: string): Target {
  // A URL parser leaves out line ends and tabs, and turns backslashes; then the address is not the one that was read.
  if (/[^\x21-\x7e]|\\/.test(uri)) {
    throw new Fault('invalid', 'an address has neither spaces, nor control or other letters in it')
  }
  const url = URL.parse(uri)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Fault('invalid', 'the address should begin with https:// or http://')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fault('invalid', 'a name and a password do not belong in an address', {
      hint: 'the task has `authentication` for them',
    })
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const address = plainAddress(host)
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port)
  const rule = rules.find((each) => meets(each, address ?? host, scheme, port))
  if (host === '' || rule === undefined) {
    throw refused(`${scheme}://${host}:${port} is not on the list of this organisation`)
  }
  return { url, host, port, address, rule }
}

function meets(rule: Rule, host: string, scheme: 'http' | 'https', port: number): boolean {
  const { ports = [443], schemes = ['https'] } = rule
  return ports.includes(port) && schemes.includes(scheme) && isHost(rule.host, host)
}

function isHost(wanted: string, host: string): boolean {
  const name = wanted.toLowerCase()
  if (name.startsWith('*.')) return host.endsWith(name.slice(1)) && plainAddress(host) === undefined
  return (plainAddress(name) ?? name) === host
}

/**
 * Which address is called, of those that the name has. All of them must be allowed: one that has an address of ours among others
 * was made to.
 */
export function chooseAddress({ host, rule }: Target, found: readonly string[]): string {
  const own = new Set(
    [rule.host, ...(rule.addresses ?? [])].flatMap((each) => plainAddress(each) ?? []),
  )
  const plain = found.map((each) => plainAddress(each))
  for (const each of plain) {
    if (each === undefined || (!isPublic(each) && !own.has(each))) {
      throw refused(
        `${host} leads to ${each ?? 'no address'}, which is inside of a network of its own`,
      )
    }
  }
  const [first] = plain
  if (first === undefined) throw new Fault('unavailable', `${host} has no address`)
  return first
}
