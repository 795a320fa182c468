import { configureServices, type ServiceChange } from '../../cloud/edge/configure.ts'
import { gatewayIn } from '../../cloud/edge/seen-gateway.ts'
import { underWay } from '../../cloud/task.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'

/** A change of the rules of an edge gateway, and what is said when it is done. */
interface RuleChange {
  /** Address of the gateway's document. */
  readonly gateway: string
  readonly change: ServiceChange
  readonly text: string
  readonly next?: string
}

/** Changes the rules in one request; the result says which edge gateway, and the version of its rules. */
export async function changeRules(
  side: CloudSession,
  { gateway, change, text, next }: RuleChange,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const begun = await configureServices(side, gateway, change, doing)
  if (begun && !begun.ended) return underWay('edge gateway', begun.id)
  const { name, version } = gatewayIn(await side.cloud.get(gateway))
  const task = begun && { task: { id: begun.id, status: 'success' } }
  return { text, body: { edge: name, version, done: text, ...task }, next }
}
