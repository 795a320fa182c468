/** `${ … }` around a whole text makes it an expression; inside of other text it means nothing, as the DSL's strict mode has it. */
const wrapped = /^\s*\$\{([\s\S]*)\}\s*$/

/** Is this value of some data an expression? */
export const isExpression = (value: unknown): value is string =>
  typeof value === 'string' && wrapped.test(value)

/** The jq program itself, where an expression is expected and its wrapping may be left away: `if`, `when`, `while`, `in`, `from`, `as`. */
export const bareExpression = (text: string): string => (wrapped.exec(text)?.[1] ?? text).trim()
