import { useQueries } from '@tanstack/react-query'

import { pathOf, request } from '../../api/client.ts'
import { linkOf, type CatalogDocument } from '../../api/documents.ts'
import { useRecords } from '../../data/use-record-list.ts'

/** The catalogs that the user sees: those of the organisation, or those that are shared with the user. */
export function useCatalogs(): readonly CatalogDocument[] {
  const { data } = useRecords('catalog', { sort: 'name' })
  return useQueries({
    queries: (data?.records ?? []).map(({ href }) => ({
      queryKey: ['document', pathOf(href)],
      queryFn: ({ signal }: { signal: AbortSignal }) => request<CatalogDocument>(href, { signal }),
    })),
  }).flatMap((read) => (read.data ? [read.data] : []))
}

/** undefined: this user may not upload to it. */
export const uploadHref = (catalog: CatalogDocument | undefined): string | undefined =>
  linkOf(catalog, 'add', 'uploadParams')
