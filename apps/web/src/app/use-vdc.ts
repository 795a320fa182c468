import type { VdcDocument } from '../api/documents.ts'
import { useDocument } from '../data/use-documents.ts'
import { useRecords } from '../data/use-record-list.ts'

/** The data centres of the organisation, and the document of the chosen one; default: the first. */
export function useVdc(chosen: string) {
  const { data } = useRecords('orgVdc', { sort: 'name' })
  const vdcs = data?.records ?? []
  const href = vdcs.find((vdc) => vdc.href === chosen)?.href ?? vdcs[0]?.href
  const { data: vdc } = useDocument<VdcDocument>(href)
  return { vdcs, vdc }
}
