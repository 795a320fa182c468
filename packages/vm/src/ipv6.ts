const GROUPS = 8
const PREFIX = /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,3}::\/64$/

/** Whether a text is the prefix of a network, such as fd12:3456:789a:1::/64. */
export const isPrefix64 = (text: string): boolean => PREFIX.test(text)

/** The address that a card gives itself in a network with this prefix: EUI-64, made of its MAC address. */
export function eui64Address(prefix: string, mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac
    .split(':')
    .map((byte) => Number.parseInt(byte, 16))
  const pair = (high: number, low: number): number => high * 256 + low
  return ipv6Text([...groupsOf(prefix), pair(a ^ 2, b), pair(c, 0xff), pair(0xfe, d), pair(e, f)])
}

/** The first address of a network, which is that of its router. No card has it: theirs have ff:fe in the middle. */
export const routerAddress6 = (prefix: string): string =>
  ipv6Text([...groupsOf(prefix), 0, 0, 0, 1])

/** The four groups of a prefix. */
function groupsOf(prefix: string): readonly number[] {
  const written = prefix.slice(0, prefix.indexOf('::')).split(':')
  const groups = written.map((group) => Number.parseInt(group, 16))
  return [...groups, 0, 0, 0].slice(0, GROUPS / 2)
}

/** The only spelling of an address: lower case, without leading zeros, and with :: for the first of the longest runs of zeros. */
function ipv6Text(groups: readonly number[]): string {
  let [from, length] = [0, 1]
  for (let at = 0; at < GROUPS; at++) {
    const rest = groups.slice(at).findIndex((group) => group !== 0)
    const run = rest === -1 ? GROUPS - at : rest
    if (run > length) [from, length] = [at, run]
  }
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  if (length === 1) return text(groups)
  return `${text(groups.slice(0, from))}::${text(groups.slice(from + length))}`
}
