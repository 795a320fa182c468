/** Text as PostgreSQL can store it: without NUL and lone surrogates, in text and in JSON. */
export const keptText = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed()

export const jsonText = (value: unknown): string => JSON.stringify(kept(value)) ?? 'null'

function kept(value: unknown): unknown {
  if (typeof value === 'string') return keptText(value)
  if (Array.isArray(value)) return value.map(kept)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inside]) => [keptText(key), kept(inside)]),
  )
}
