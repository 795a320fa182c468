/** Formats libvirt's 16 bytes: `c7a5fdbd-edaf-9455-926a-d65c16db1809`. */
export function uuidToString(uuid: Uint8Array): string {
  const hex = Buffer.from(uuid).toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return [...parts, hex.slice(20)].join('-')
}

export function uuidFromString(text: string): Uint8Array {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) {
    throw new TypeError(`"${text}" is not a UUID: 32 hexadecimal digits in groups of 8-4-4-4-12`)
  }
  return new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex'))
}
