/** A text is an expression if `${ … }` wraps all of it; inside other text it has no meaning, as in the DSL's strict mode. */
const wrapped = /^\s*\$\{([\s\S]*)\}\s*$/

/** Whether this value is an expression. */
export const isExpression = (value: unknown): value is string =>
  typeof value === 'string' && wrapped.test(value)

/** The jq program of a field that always is an expression, so that `${ … }` is optional: `if`, `when`, `while`, `in`, `from`, `as`. */
export const bareExpression = (text: string): string => (wrapped.exec(text)?.[1] ?? text).trim()
