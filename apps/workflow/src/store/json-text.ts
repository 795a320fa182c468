/** Text as PostgreSQL can store it: without NUL and lone surrogates, in text and in JSON. */
export const keptText = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed()

export const jsonText = (value: unknown): string =>
  JSON.stringify(withoutNulCharacters(value)) ?? 'null'

function withoutNulCharacters(value: unknown): unknown {
  if (typeof value === 'string') return keptText(value)
  if (Array.isArray(value)) return value.map(withoutNulCharacters)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inside]) => [keptText(key), withoutNulCharacters(inside)]),
  )
}
