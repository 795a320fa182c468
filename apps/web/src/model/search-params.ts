// The part of an address after '?', as data: read with a default, written only where it differs from it.

export interface SearchParam<T> {
  readonly default: T
  readonly read: (text: string) => T
}
export type SearchSchema<Search> = { readonly [Key in keyof Search]: SearchParam<Search[Key]> }

export const textParam = (initial = ''): SearchParam<string> => ({
  default: initial,
  read: (text) => text,
})

export const integerParam = (initial: number): SearchParam<number> => ({
  default: initial,
  read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : initial),
})

export const choiceParam = <const T extends string>(
  choices: readonly T[],
  initial: T,
): SearchParam<T> => ({
  default: initial,
  read: (text) => choices.find((choice) => choice === text) ?? initial,
})

export function readSearch<Search>(
  schema: SearchSchema<Search>,
  parameters: URLSearchParams,
): Search {
  const entries = Object.entries(schema as Record<string, SearchParam<unknown>>)
  return Object.fromEntries(
    entries.map(([key, param]) => {
      const text = parameters.get(key)
      return [key, text === null ? param.default : param.read(text)]
    }),
  ) as Search
}

export function writeSearch<Search>(schema: SearchSchema<Search>, search: Partial<Search>): string {
  const values = search as Readonly<Record<string, string | number | undefined>>
  const parameters = new URLSearchParams()
  for (const [key, param] of Object.entries(schema as Record<string, SearchParam<unknown>>)) {
    const value = values[key]
    if (value !== undefined && value !== param.default) parameters.set(key, String(value))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
