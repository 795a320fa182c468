/** An event is known by two numbers, its transaction and its place in all events; as an id they are the halves of a UUID. */
export function eventId(key: string): string {
  const hex = key
    .split('-')
    .map((half) => BigInt(half).toString(16).padStart(16, '0'))
    .join('')
  const cuts = [0, 8, 12, 16, 20, 32]
  return cuts
    .slice(1)
    .map((end, at) => hex.slice(cuts[at], end))
    .join('-')
}

/** The two numbers, in decimal; one that cannot be an event's is no event's. */
export function eventKey(uuid: string): readonly [tx: string, seq: string] {
  const hex = uuid.replaceAll('-', '')
  const [tx, seq] = [BigInt(`0x${hex.slice(0, 16)}`), BigInt(`0x${hex.slice(16)}`)]
  // Postgres counts places in 63 bits.
  return [String(tx), String(BigInt.asIntN(64, seq) < 0n ? 0n : seq)]
}
