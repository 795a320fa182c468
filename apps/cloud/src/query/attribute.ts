import type { Dialect } from '../dialect/dialect.ts'
import type { Version } from '../dialect/version.ts'

/** The kinds of resources that a record may refer to: each has an address and a URN. */
export type ReferenceTarget =
  | 'vm'
  | 'vapp'
  | 'vdc'
  | 'org'
  | 'task'
  | 'template'
  | 'catalog'
  | 'host'
  | 'network'
  | 'edgeGateway'
  | 'externalNetwork'
  | 'securityGroup'

/** Sets of words that a dialect may translate. */
export type Vocabulary = keyof Dialect['words']

interface CommonAttribute {
  /** SQL over the row `r`. Written by us, never by a client. */
  readonly sql: string
  /** Nullable: without a value it is not shown, and it is unequal to every value. */
  readonly maybe?: true
  /** Also a column of the tally: filters over such attributes need no counting. 'cloud': also in the tally without organisations. */
  readonly tallied?: 'org' | 'cloud'
  /** An index delivers the records in its order. */
  readonly walked?: true
  /** The first version of the API that shows it. */
  readonly since?: Version
}

/** One attribute of a record: how it is compared, sorted and written. */
export type Attribute =
  | (CommonAttribute & {
      readonly is: 'text'
      /** The column with its lower-case form; otherwise it is lower-cased when it is read. */
      readonly folded?: string
    })
  /** Always one of these words: filters on it are decided before they reach the database. */
  | (CommonAttribute & {
      readonly is: 'word'
      readonly words: readonly string[]
      readonly of?: Vocabulary
    })
  | (CommonAttribute & { readonly is: 'number' | 'boolean' | 'time' })
  | (CommonAttribute & {
      readonly is: 'reference'
      /** The kind of its resource; if that differs between rows and the resource may be gone, SQL for the kind and for its existence. */
      readonly to: ReferenceTarget | { readonly resource: string; readonly there: string }
    })
  /** The same for every record. */
  | (Pick<CommonAttribute, 'since'> & { readonly is: 'constant'; readonly value: string | boolean })

type AttributeOptions = Omit<CommonAttribute, 'sql'>
type Of<Is extends string> = Extract<Attribute, { readonly is: Is }>

export const text = (
  sql: string,
  more: AttributeOptions & { readonly folded?: string } = {},
): Of<'text'> => ({
  is: 'text',
  sql,
  ...more,
})
export const word = (
  sql: string,
  words: readonly string[],
  more: AttributeOptions & { readonly of?: Vocabulary } = {},
): Of<'word'> => ({
  is: 'word',
  sql,
  words,
  ...more,
})
/** A word as clients see it, and filter by it. */
export const saidFor = (
  { of }: Of<'word'>,
  { words }: Pick<Dialect, 'words'>,
  word: string,
): string => (of && (words[of] as Readonly<Record<string, string>>)[word]) ?? word
const plain =
  <const Is extends 'number' | 'boolean' | 'time'>(is: Is) =>
  (sql: string, more: AttributeOptions = {}): CommonAttribute & { readonly is: Is } => ({
    is,
    sql,
    ...more,
  })
export const number = plain('number')
export const boolean = plain('boolean')
export const time = plain('time')
export const reference = (
  sql: string,
  to: Of<'reference'>['to'],
  more: AttributeOptions = {},
): Of<'reference'> => ({ is: 'reference', sql, to, ...more })
export const constant = (
  value: string | boolean,
  more: Pick<AttributeOptions, 'since'> = {},
): Attribute => ({
  is: 'constant',
  value,
  ...more,
})
