// Decides which servers a workflow may call: only those on its organisation's list. Pure; fetch-out.ts applies the decision.
import { Fault } from '@skerry/fault'
import { isPublic, plainAddress } from '@skerry/service'

/** One server that an organisation's workflows may call. */
export interface EgressRule {
  /** A host name, `*.` and a name for all its subdomains, or an address. */
  readonly host: string
  /** Default: 443 only. */
  readonly ports?: readonly number[]
  /** Default: https only. */
  readonly schemes?: readonly ('http' | 'https')[]
  /** Addresses in our own networks that this name may resolve to: single addresses, never a whole network. */
  readonly addresses?: readonly string[]
}
/** The rules of each organisation, keyed by organisation id. */
export type EgressRules = Readonly<Record<string, readonly EgressRule[]>>

export interface EgressTarget {
  readonly url: URL
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Set if the host is itself an address: no DNS lookup is needed. */
  readonly address: string | undefined
  readonly rule: EgressRule
}

const notAllowed = (message: string): Fault =>
  new Fault('forbidden', message, {
    hint: 'the operator of this cloud maintains the list of servers that an organisation may call',
  })

/** Parses an address strictly and finds the rule that allows it. */
export function findTarget(rules: readonly EgressRule[], uri: string): EgressTarget {
  // A URL parser drops line ends and tabs and converts backslashes; the parsed address would then differ from the given one.
  if (/[^\x21-\x7e]|\\/.test(uri)) {
    throw new Fault(
      'invalid',
      'a URL must not contain spaces, control characters or non-ASCII characters',
    )
  }
  const url = URL.parse(uri)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Fault('invalid', 'the URL must start with https:// or http://')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fault('invalid', 'a URL must not contain a user name or password', {
      hint: 'use `authentication` of the task',
    })
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const address = plainAddress(host)
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port)
  const rule = rules.find((each) => ruleMatches(each, address ?? host, scheme, port))
  if (host === '' || rule === undefined) {
    throw notAllowed(
      `${scheme}://${host}:${port} is not on the list of allowed servers of this organisation`,
    )
  }
  return { url, host, port, address, rule }
}

function ruleMatches(
  rule: EgressRule,
  host: string,
  scheme: 'http' | 'https',
  port: number,
): boolean {
  const { ports = [443], schemes = ['https'] } = rule
  return ports.includes(port) && schemes.includes(scheme) && isHost(rule.host, host)
}

function isHost(wanted: string, host: string): boolean {
  const name = wanted.toLowerCase()
  if (name.startsWith('*.')) return host.endsWith(name.slice(1)) && plainAddress(host) === undefined
  return (plainAddress(name) ?? name) === host
}

/**
 * Chooses which of a name's addresses to call. All of them must be allowed: a name that has an internal address among others
 * is likely an attack.
 */
export function chooseAddress({ host, rule }: EgressTarget, found: readonly string[]): string {
  const own = new Set(
    [rule.host, ...(rule.addresses ?? [])].flatMap((each) => plainAddress(each) ?? []),
  )
  const plain = found.map((each) => plainAddress(each))
  for (const each of plain) {
    if (each === undefined || (!isPublic(each) && !own.has(each))) {
      throw notAllowed(
        `${host} resolves to ${each ?? 'no valid address'}, which is not a public address`,
      )
    }
  }
  const [first] = plain
  if (first === undefined) throw new Fault('unavailable', `${host} has no address`)
  return first
}
