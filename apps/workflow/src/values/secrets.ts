import { fieldsOf } from '../definition/inputs.ts'
import type { Json, SecureReference } from '../durable/verbs.ts'
import type { Values } from '../store/database.ts'

/** Secrets are sealed and kept apart; a reference stands in their place, and is all that a history or a document ever holds. */
export function splitSecrets(
  form: Values | null,
  given: Values,
  close: (text: string, name: string) => Buffer,
): { readonly input: Values; readonly secrets: ReadonlyMap<string, Buffer> } {
  const input: Record<string, unknown> = { ...given }
  const secrets = new Map<string, Buffer>()
  for (const { name, secret } of fieldsOf(form ?? undefined)) {
    const value = given[name]
    if (!secret || typeof value !== 'string') continue
    secrets.set(name, close(value, name))
    input[name] = { 'skerry.secure': name } satisfies SecureReference
  }
  return { input, secrets }
}

/** The secret that a value stands for; undefined: it is a value like any other. */
export function referenceIn(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [first, ...more] = Object.entries(value)
  const isOne = first?.[0] === 'skerry.secure' && more.length === 0
  return isOne && typeof first[1] === 'string' ? first[1] : undefined
}

/** The names of all secrets that stand somewhere in a value. */
export function referencesIn(value: Json): ReadonlySet<string> {
  const name = referenceIn(value)
  if (name !== undefined) return new Set([name])
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
  return new Set(inner.flatMap((each: Json) => [...referencesIn(each)]))
}
