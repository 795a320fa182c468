import { fieldsOf, type Json, type SecureReference } from '@skerry/serverless-workflow'

import type { RunValues } from '../store/database.ts'

/** Seals secrets and stores them separately. A reference replaces each, and is all that a history or a document contains. */
export function splitSecrets(
  form: RunValues | null,
  given: RunValues,
  close: (text: string, name: string) => Buffer,
): { readonly input: RunValues; readonly secrets: ReadonlyMap<string, Buffer> } {
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

/** The name of the secret that a value refers to; undefined: a normal value. */
export function referenceIn(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [first, ...more] = Object.entries(value)
  const isOne = first?.[0] === 'skerry.secure' && more.length === 0
  return isOne && typeof first[1] === 'string' ? first[1] : undefined
}

/** The names of all secrets referenced in a value. */
export function referencesIn(value: Json): ReadonlySet<string> {
  const name = referenceIn(value)
  if (name !== undefined) return new Set([name])
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
  return new Set(inner.flatMap((each: Json) => [...referencesIn(each)]))
}
