import { RE2JS } from 're2js'

const compile = (source: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(source))

/** Why this is not a supported pattern; undefined if it is one: valid in JavaScript, and without lookaround and backreferences. */
export function whyNotPattern(source: string): string | undefined {
  try {
    // RE2 reads some mistakes as plain text, such as a{2.
    RegExp(source, 'u')
    compile(source)
    return undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return message.replace(/^(error parsing regexp|Invalid regular expression): /, '')
  }
}

/** A pattern of a stranger. It is matched in time proportional to its size times the length of the text, without backtracking. */
export class LinearPattern extends RegExp {
  readonly #source: string
  readonly #compiled: RE2JS

  constructor(source: string) {
    super('')
    this.#source = source
    this.#compiled = compile(source)
  }

  override test(text: string): boolean {
    return this.#compiled.matcher(text).find()
  }

  override toString(): string {
    return this.#source
  }
}
