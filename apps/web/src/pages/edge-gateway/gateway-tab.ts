import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import type { WantedChange } from '../../data/networks/use-versioned-change.ts'
import type { ServicesChange } from '../../model/networks/edge-gateway.ts'

/** What the tabs of an edge gateway share. */
export interface GatewayTabProps {
  readonly gateway: EdgeGatewayDocument
  /** Why its rules cannot be changed now. */
  readonly unavailable: string | undefined
  readonly onChange: (wanted: WantedChange<ServicesChange>) => void
}

/** What its dialogs share: each adds one rule. */
export interface RuleDialogProps extends GatewayTabProps {
  readonly onClose: () => void
}
