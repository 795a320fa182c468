// Evaluates the part of OVN's match language that the projection uses.
import assert from 'node:assert/strict'

import { addressNumber, isWithin, readBlock } from '@skerry/vm'

export interface Packet {
  readonly inport: string
  readonly outport: string
  readonly family: 4 | 6
  readonly src: string
  readonly dst: string
  /** The number of its protocol. */
  readonly protocol: number
  readonly srcPort: number
  readonly dstPort: number
}

export interface MatchNames {
  /** Ports, by the name of their group. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
  /** Addresses, by the name of their set. */
  readonly sets: ReadonlyMap<string, ReadonlySet<string>>
}

const TOKEN = /\s*(&&|\|\||[(){},]|==|!=|<=|[@$]?[\w./]+)/y
const protocolOf: Readonly<Record<string, number>> = { tcp: 6, udp: 17 }

export function evaluate(match: string, packet: Packet, names: MatchNames): boolean {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < match.length) {
    const [, token] = TOKEN.exec(match) ?? assert.fail(`cannot read ${match}`)
    tokens.push(token ?? '')
  }
  const reader = new Reader(tokens, packet, names)
  const result = reader.either()
  assert.equal(tokens.length, 0, `${match}: ${tokens.join(' ')} is left`)
  return result
}

class Reader {
  readonly #tokens: string[]
  readonly #packet: Packet
  readonly #names: MatchNames

  constructor(tokens: string[], packet: Packet, names: MatchNames) {
    this.#tokens = tokens
    this.#packet = packet
    this.#names = names
  }

  #take(expected?: string): string {
    const token = this.#tokens.shift() ?? assert.fail('the match ends too early')
    if (expected !== undefined) assert.equal(token, expected)
    return token
  }

  #skip(token: string): boolean {
    if (this.#tokens[0] !== token) return false
    this.#tokens.shift()
    return true
  }

  either(): boolean {
    let result = this.#both()
    while (this.#skip('||')) result = this.#both() || result
    return result
  }

  #both(): boolean {
    let result = this.#one()
    while (this.#skip('&&')) result = this.#one() && result
    return result
  }

  #one(): boolean {
    if (this.#skip('(')) {
      const result = this.either()
      this.#take(')')
      return result
    }
    const first = this.#take()
    if (/^\d+$/.test(first)) return this.#between(Number(first))
    if (this.#skip('==')) return this.#isAmong(first, this.#values())
    if (this.#skip('!=')) return !this.#isAmong(first, this.#values()) && this.#has(first)
    return this.#has(first)
  }

  #between(low: number): boolean {
    this.#take('<=')
    const field = this.#take()
    this.#take('<=')
    const high = Number(this.#take())
    const value = this.#number(field)
    return this.#has(field) && low <= value && value <= high
  }

  #values(): readonly string[] {
    if (!this.#skip('{')) return [this.#take()]
    const values = [this.#take()]
    while (this.#skip(',')) values.push(this.#take())
    this.#take('}')
    return values
  }

  /** Whether the packet has a field, or is of a kind. */
  #has(name: string): boolean {
    const { family, protocol } = this.#packet
    const [kind = ''] = name.split('.')
    if (kind === 'ip4' || kind === 'ip6') return family === Number(kind.at(-1))
    if (kind === 'icmp4') return family === 4 && protocol === 1
    if (kind === 'icmp6') return family === 6 && protocol === 58
    if (kind in protocolOf) return protocol === protocolOf[kind]
    assert.ok(['ip', 'inport', 'outport'].includes(kind), name)
    return true
  }

  #number(field: string): number {
    if (field === 'ip.proto') return this.#packet.protocol
    return field.endsWith('.src') ? this.#packet.srcPort : this.#packet.dstPort
  }

  #isAmong(field: string, values: readonly string[]): boolean {
    const { inport, outport, src, dst } = this.#packet
    if (!this.#has(field)) return false
    return values.some((value) => {
      if (field === 'inport' || field === 'outport') {
        const port = field === 'inport' ? inport : outport
        return this.#names.groups.get(value.slice(1))?.has(port) ?? assert.fail(value)
      }
      if (field === 'ip4.src' || field === 'ip4.dst') {
        const address = field === 'ip4.src' ? src : dst
        if (value.startsWith('$')) {
          return this.#names.sets.get(value.slice(1))?.has(address) ?? assert.fail(value)
        }
        const block = readBlock(value.includes('/') ? value : `${value}/32`)
        return addressNumber(address) >= 0 && isWithin(address, block)
      }
      if (field === 'ip6.src' || field === 'ip6.dst') {
        const address = field === 'ip6.src' ? src : dst
        return this.#names.sets.get(value.slice(1))?.has(address) ?? assert.fail(value)
      }
      const [number = '', mask = '0xffff'] = value.split('/')
      return (this.#number(field) & Number(mask)) === Number(number)
    })
  }
}
