export {
  decideOrder,
  withBegun,
  withOutcome,
  withoutBegun,
  type AtWork,
  type GoalNature,
  type Ledger,
  type OrderRefusal,
  type StepOutcome,
  type Verdict,
} from './decide-order.ts'
export {
  usableAddresses,
  whyNotFirewall,
  whyNotNat,
  whyNotRoutes,
  type EdgeSurroundings,
} from './edge-checks.ts'
export {
  edgeRuleLimits,
  firewallProtocols,
  isRuleEnabled,
  type EdgeFirewall,
  type EdgeRoute,
  type FirewallProtocol,
  type FirewallRule,
  type ForwardRule,
  type NatRule,
  type OneToOneRule,
  type PortRange,
  type SnatRule,
} from './edge-rules.ts'
export {
  isUuid,
  UUID,
  type HostId,
  type Id,
  type OrgId,
  type TaskId,
  type UserId,
  type VmId,
} from './id.ts'
export {
  accelerationFinding,
  KVM,
  OVERLAY_CHECK,
  overlayFinding,
  programDirectories,
  programFinding,
  requiredPrograms,
  spaceFinding,
  templateFinding,
  type MachineFinding,
} from './machine-checks.ts'
export {
  addressNumber,
  addressText,
  blockAround,
  blocksOverlap,
  blockText,
  isAddress,
  isBlockText,
  isWithin,
  netmaskOf,
  prefixOf,
  readBlock,
  sizeOfPrefix,
  type AddressBlock,
} from './ipv4.ts'
export { eui64Address, isPrefix64, routerAddress6 } from './ipv6.ts'
export { cloneWays, lifecycleRules, mayDo, type LifecycleAction } from './lifecycle.ts'
export {
  moveRules,
  stageAfter,
  wordOf,
  type ArrivalAct,
  type ArrivalStage,
  type DepartureAct,
  type DepartureStage,
  type DomainSight,
  type HeardWord,
  type MoveRules,
  type TargetWord,
} from './move-rules.ts'
export {
  whyNotBridge,
  whyNotGuestPath,
  whyNotId,
  whyNotName,
  whyNotSnapshotName,
  whyNotTag,
} from './names.ts'
export {
  nicChange,
  nicMtu,
  NICS_MAX,
  whyNotNics,
  type HostOverlay,
  type Nic,
  type OverlayJoin,
} from './nic.ts'
export type { Order } from './order.ts'
export {
  cardCounts,
  FIRST_FIXED,
  isOrgNetwork,
  LAST_FIXED,
  networkOf,
  ORGS_BLOCK,
} from './org-network.ts'
export {
  commandTo,
  decidePower,
  powerCommands,
  powerRules,
  powerStates,
  type Decision,
  type PowerCommand,
  type PowerRule,
  type PowerState,
} from './power.ts'
export { hostnameOf, whyNotSeed, type Seed } from './seed.ts'
export {
  noUsage,
  USAGE_SPAN,
  USAGE_STEP,
  usageKeys,
  usageWindowOf,
  type UsageKey,
  type UsageSeries,
  type UsageWindow,
} from './usage.ts'
export {
  folderFlags,
  type Card,
  type Folder,
  type FolderFlags,
  type Report,
  type Snapshot,
  type Template,
  type Vm,
  type VmSummary,
} from './vm.ts'
