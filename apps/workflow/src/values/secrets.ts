import { fieldsOf } from '../definition/inputs.ts'
import type { SecureReference } from '../durable/verbs.ts'
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
