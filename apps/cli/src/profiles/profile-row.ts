import type { TableColumn } from '@skerry/command-line'

import type { Profile } from './profiles.ts'

/** The printed properties of a profile: never its token. */
export interface ProfileRow {
  readonly name: string
  readonly active: boolean
  readonly url: string
  readonly user: string
  readonly workflow?: string | undefined
  readonly vdc?: string | undefined
}

export const profileColumns: readonly TableColumn<ProfileRow>[] = [
  { head: 'ACTIVE', cell: ({ active }) => (active ? '*' : '') },
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'ADDRESS', cell: ({ url }) => url },
  { head: 'USER', cell: ({ user }) => user },
  { head: 'WORKFLOWS', cell: ({ workflow = '' }) => workflow },
]

export function rowOf(active: string, name: string, profile: Profile): ProfileRow {
  const { url, user, workflow, vdc } = profile
  return { name, active: name === active, url, user, workflow, vdc }
}
