import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import type { WantedChange } from '../../data/use-services-change.ts'

/** What the tabs of an edge gateway share. */
export interface GatewayTabProps {
  readonly gateway: EdgeGatewayDocument
  /** Why its rules cannot be changed now. */
  readonly unavailable: string | undefined
  readonly onChange: (wanted: WantedChange) => void
}
