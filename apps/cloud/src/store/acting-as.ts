/** The roles behind the second wall (migrations/0002-walls.sql). */
export type ActingRole = 'skerry_tenant' | 'skerry_system'

/** The same way in, for connections that act as this role from their first statement on. */
export function actingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  acting.searchParams.set('options', `-c role=${role}`)
  return acting.href
}
