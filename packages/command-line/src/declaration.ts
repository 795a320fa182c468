export interface Option {
  readonly type: 'boolean' | 'string'
  readonly doc: string
  /** Placeholder of the value in the help. */
  readonly value?: string
  /** May be given several times. */
  readonly multiple?: true
}
export type Options = Readonly<Record<string, Option>>

type Value<O extends Option> = Option extends O
  ? boolean | string | readonly string[]
  : O['type'] extends 'boolean'
    ? boolean
    : O extends { multiple: true }
      ? readonly string[]
      : string
export type OptionValues<All extends Options> = { readonly [Name in keyof All]?: Value<All[Name]> }

/** A parsed command line. */
export interface Args<All extends Options = Options> {
  /** Positional arguments, in the order of the usage; omitted optional ones are undefined. */
  readonly words: readonly string[]
  readonly options: OptionValues<All>
  readonly json: boolean
}

/** What a command looks like: help, man page, completion and the parser are derived from it. */
export interface CommandDeclaration<All extends Options = Options> {
  /** One to three words: 'list', 'share add', 'admin host list'. The last is a verb; a test has the list of verbs. */
  readonly name: string
  /**
   * Positional arguments: `VM` is required, `[NAME]` is optional, `COMMAND...` takes all that remain.
   * Arguments such as VM, TEMPLATE and PROFILE are completed with existing names.
   */
  readonly usage: string
  readonly summary: string
  /** Complete command lines, the most common first. */
  readonly examples: readonly string[]
  /** The usual next step. */
  readonly next: string
  /** Exit codes beyond the five that all commands share. */
  readonly exits?: string
  readonly options: All
}

export interface Place {
  readonly name: string
  readonly needed: boolean
  readonly rest: boolean
}

/** The positional arguments of a usage: 'VM [NAME]' has two, the second optional. */
export const places = (usage: string): readonly Place[] =>
  usage
    .split(' ')
    .filter((word) => word !== '' && word !== '--')
    .map((word) => ({
      name: word.replace(/[[\].]/g, ''),
      needed: !word.startsWith('['),
      rest: word.includes('...'),
    }))
