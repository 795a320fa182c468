import type { Dialect } from '../http/dialect.ts'
import type { Version } from '../http/version.ts'

/** What a record may point at: each has an address and a name of its own. */
export type Thing = 'vm' | 'vapp' | 'vdc' | 'org' | 'task' | 'template' | 'catalog' | 'host'

/** Words that a dialect may have others for. */
export type Vocabulary = keyof Dialect['words']

interface Always {
  /** SQL over the row `r`. Ours, never a client's. */
  readonly sql: string
  /** It may have no value: then it is not shown, and it is unlike every value. */
  readonly maybe?: true
  /** The tally has it too: a filter of such attributes needs no counting. Of 'cloud' also the tally that knows no organisations. */
  readonly tallied?: 'org' | 'cloud'
  /** An index delivers the records in its order. */
  readonly walked?: true
  /** The first version of the API that shows it. */
  readonly since?: Version
}

/** One attribute of a record: how it is compared, sorted and written. */
export type Attribute =
  | (Always & {
      readonly is: 'text'
      /** The column that has it in small letters; otherwise they are made small when it is read. */
      readonly folded?: string
    })
  /** One of these words, and never another: filters on it are decided before the database sees them. */
  | (Always & { readonly is: 'word'; readonly words: readonly string[]; readonly of?: Vocabulary })
  | (Always & { readonly is: 'number' | 'boolean' | 'time' })
  | (Always & {
      readonly is: 'reference'
      /** What it points at; where that differs from row to row and may be gone, SQL for what it is and whether it is there. */
      readonly to: Thing | { readonly thing: string; readonly there: string }
    })
  /** The same for every record. */
  | (Pick<Always, 'since'> & { readonly is: 'constant'; readonly value: string | boolean })

type More = Omit<Always, 'sql'>
type Of<Is extends string> = Extract<Attribute, { readonly is: Is }>

export const text = (sql: string, more: More & { readonly folded?: string } = {}): Of<'text'> => ({
  ...{ is: 'text', sql },
  ...more,
})
export const word = (
  sql: string,
  words: readonly string[],
  more: More & { readonly of?: Vocabulary } = {},
): Of<'word'> => ({
  ...{ is: 'word', sql, words },
  ...more,
})
/** What a client is told, and asks for. */
export const saidFor = (
  { of }: Of<'word'>,
  { words }: Pick<Dialect, 'words'>,
  word: string,
): string => (of && (words[of] as Readonly<Record<string, string>>)[word]) ?? word
const plain =
  <const Is extends 'number' | 'boolean' | 'time'>(is: Is) =>
  (sql: string, more: More = {}): Always & { readonly is: Is } => ({ is, sql, ...more })
export const number = plain('number')
export const boolean = plain('boolean')
export const time = plain('time')
export const reference = (
  sql: string,
  to: Of<'reference'>['to'],
  more: More = {},
): Of<'reference'> => ({ is: 'reference', sql, to, ...more })
export const constant = (value: string | boolean, more: Pick<More, 'since'> = {}): Attribute => ({
  is: 'constant',
  value,
  ...more,
})
