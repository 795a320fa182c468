import type { Evaluated, Json } from './verbs.ts'

const path = /^(\$[A-Za-z_]\w*)?((?:\.[A-Za-z_]\w*)*)$/

/**
 * Evaluates a plain path: `.`, `.a.b`, `$item.name`. Most expressions are plain paths, and this costs no step. Returns undefined if
 * jq must evaluate it. The result decides which steps a history has, so changing this grammar requires Temporal's `patched`.
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
    // jq reports the error for a value that is neither an object nor null.
    if (at === null) continue
    if (typeof at !== 'object' || Array.isArray(at)) return undefined
    at = Object.hasOwn(at, key) ? ((at as Record<string, Json>)[key] ?? null) : null
  }
  return { value: at }
}
