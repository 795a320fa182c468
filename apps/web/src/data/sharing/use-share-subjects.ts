// Whom an object can be shared with, for those who can list them; others type the name.
import { useQueries } from '@tanstack/react-query'

import { pathOf, request } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type {
  IdentityProviderDocument,
  IdentityProvidersDocument,
} from '../../api/sharing-documents.ts'
import { useDocument } from '../use-documents.ts'
import { useOwnOrg } from '../use-own-org.ts'

/** An identity server, and the groups of it that have a role. */
export interface ProviderGroups {
  readonly name: string
  readonly groups: readonly string[]
}

export interface ShareSubjects {
  readonly users: readonly string[]
  /** The identity servers of the organisation; undefined: the user cannot list them, or they are not read yet. */
  readonly providers: readonly ProviderGroups[] | undefined
  readonly isReading: boolean
}

export function useShareSubjects(): ShareSubjects {
  const { data: org } = useOwnOrg()
  const { data: list } = useDocument<IdentityProvidersDocument>(
    linkOf(org, 'down', 'admin.identityProviders'),
  )
  const providers = useQueries({
    queries: (list?.identityProviderReference ?? []).map(({ href }) => ({
      queryKey: ['document', pathOf(href)],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        request<IdentityProviderDocument>(href, { signal }),
    })),
  })
  // All at once: the first of them is the default.
  const isReading = list !== undefined && providers.some(({ isPending }) => isPending)
  return {
    isReading,
    users: (org?.users?.userReference ?? []).map(({ name }) => name),
    providers:
      list && !isReading
        ? providers.flatMap(({ data }) =>
            data
              ? [{ name: data.name, groups: (data.groupRole ?? []).map(({ name }) => name) }]
              : [],
          )
        : undefined,
  }
}
