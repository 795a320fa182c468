import type { Evaluated, Json } from './verbs.ts'

const path = /^(\$[A-Za-z_]\w*)?((?:\.[A-Za-z_]\w*)*)$/

/**
 * What a plain path gives: `.`, `.a.b`, `$item.name`. It is what most expressions are, and costs a run no step. Undefined: jq must be
 * asked. What is answered here decides which steps a history has, so that this grammar can only change by Temporal's `patched`.
 */
export function simplePath(
  expression: string,
  on: Json,
  variable: (name: string) => Json | undefined,
): Evaluated | undefined {
  if (expression === '.') return { value: on }
  const found = path.exec(expression)
  if (found === null || expression === '') return undefined
  const [, name, rest = ''] = found
  const from = name === undefined ? on : variable(name.slice(1))
  if (from === undefined) return undefined
  let at: Json = from
  for (const key of rest.split('.').slice(1)) {
    // jq has the words for what is neither an object nor null.
    if (at === null) continue
    if (typeof at !== 'object' || Array.isArray(at)) return undefined
    at = Object.hasOwn(at, key) ? ((at as Record<string, Json>)[key] ?? null) : null
  }
  return { value: at }
}
