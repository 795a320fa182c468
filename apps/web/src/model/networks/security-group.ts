// Security groups as the pages show them, and the changes that users make to them. A change is a function, so that it can be made again
// on what somebody else has changed meanwhile.
import type {
  GroupLabelDocument,
  GroupPartsDocument,
  GroupRuleDocument,
  SecurityGroupDocument,
} from '../../api/security-group-documents.ts'
import { isPortRange } from './edge-gateway.ts'
import { isRange, NETWORK_NAME } from './network.ts'

export type GroupDirection = 'in' | 'out'
export const groupProtocols = ['tcp', 'udp', 'icmp', 'any'] as const

export type GroupChange = (parts: GroupPartsDocument) => GroupPartsDocument

const sections = { in: 'inbound', out: 'outbound' } as const

/** What of a group a request repeats. */
export const partsOf = ({
  name,
  description,
  selector,
  inbound,
  outbound,
}: SecurityGroupDocument): GroupPartsDocument => ({
  name,
  ...(description !== undefined && { description }),
  ...(selector && { selector }),
  ...(inbound && { inbound }),
  ...(outbound && { outbound }),
})

/** Whether the VMs of a group accept, or send, only what a rule allows. */
export const isLimited = (group: GroupPartsDocument, direction: GroupDirection): boolean =>
  group[sections[direction]] !== undefined

export const groupRulesOf = (
  group: GroupPartsDocument,
  direction: GroupDirection,
): readonly GroupRuleDocument[] => group[sections[direction]]?.rule ?? []

export const groupLabelsOf = ({ selector }: GroupPartsDocument): readonly GroupLabelDocument[] =>
  selector?.label ?? []

export const labelText = ({ key, value = '' }: GroupLabelDocument): string => `${key}=${value}`

/** Whom a rule is about; `anybody` is the word for all. */
export const peerText = ({ cidr, peerGroup }: GroupRuleDocument, anybody: string): string =>
  cidr ?? peerGroup?.name ?? anybody

export const groupPortsText = ({ portRange }: GroupRuleDocument, all: string): string =>
  portRange ?? all

/** The words of a rule, such as in: tcp 443, anybody. */
export const groupRuleText = (rule: GroupRuleDocument, direction: GroupDirection): string =>
  `${direction}: ${rule.protocol} ${groupPortsText(rule, 'all ports')}, ${peerText(rule, 'anybody')}`

/** How the command line counts: what comes in first. */
export const ruleNumber = (
  group: GroupPartsDocument,
  direction: GroupDirection,
  place: number,
): number => place + (direction === 'in' ? 0 : groupRulesOf(group, 'in').length)

const withRules = (
  parts: GroupPartsDocument,
  direction: GroupDirection,
  rule: readonly GroupRuleDocument[],
): GroupPartsDocument => ({ ...parts, [sections[direction]]: { rule } })

/** A group that limited nothing in this direction limits it from now on. */
export const addGroupRule =
  (rule: GroupRuleDocument, direction: GroupDirection): GroupChange =>
  (parts) =>
    withRules(parts, direction, [...groupRulesOf(parts, direction), rule])

/** Rules have no ids: the first one with the same words is removed. */
export const removeGroupRule =
  (rule: GroupRuleDocument, direction: GroupDirection): GroupChange =>
  (parts) => {
    const rules = groupRulesOf(parts, direction)
    const at = rules.findIndex(
      (each) => groupRuleText(each, direction) === groupRuleText(rule, direction),
    )
    return at < 0 ? parts : withRules(parts, direction, rules.toSpliced(at, 1))
  }

/** A group without its rules, as the user describes it. */
export interface WrittenGroup {
  readonly name: string
  readonly description: string
  /** One label a line, such as role=web. */
  readonly labels: string
  readonly limitsIn: boolean
  readonly limitsOut: boolean
}

export const writtenGroup = (group: SecurityGroupDocument): WrittenGroup => ({
  name: group.name,
  description: group.description ?? '',
  labels: groupLabelsOf(group).map(labelText).join('\n'),
  limitsIn: isLimited(group, 'in'),
  limitsOut: isLimited(group, 'out'),
})

const labelLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const labelsIn = (text: string): readonly GroupLabelDocument[] =>
  labelLines(text).map((line) => {
    const at = line.indexOf('=')
    return { key: line.slice(0, at).trim(), value: line.slice(at + 1).trim() }
  })

const LABELS_MAX = 16

export function whyNotLabels(text: string): string | undefined {
  const lines = labelLines(text)
  if (lines.some((line) => line.indexOf('=') < 1)) return 'labels must be written like role=web'
  const keys = labelsIn(text).map(({ key }) => key)
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  if (twice !== undefined) return `labels must have different keys: ${twice} is there twice`
  return lines.length > LABELS_MAX ? `labels can be ${LABELS_MAX} at most` : undefined
}

export const whyNotGroup = ({ name, labels }: WrittenGroup): string | undefined =>
  NETWORK_NAME.test(name) ? whyNotLabels(labels) : 'the security group needs a name'

/** Rules of a direction that is not limited any more are lost. */
export const describeGroup =
  (written: WrittenGroup): GroupChange =>
  (parts) => ({
    name: written.name,
    description: written.description,
    selector: { label: labelsIn(written.labels) },
    ...(written.limitsIn && { inbound: { rule: groupRulesOf(parts, 'in') } }),
    ...(written.limitsOut && { outbound: { rule: groupRulesOf(parts, 'out') } }),
  })

/** A rule as the user describes it. */
export interface WrittenRule {
  readonly direction: GroupDirection
  readonly protocol: GroupRuleDocument['protocol']
  readonly port: string
  readonly peer: 'anybody' | 'addresses' | 'group'
  readonly addresses: string
  /** The href of the group. */
  readonly group: string
}

export const hasPorts = ({ protocol }: Pick<GroupRuleDocument, 'protocol'>): boolean =>
  protocol === 'tcp' || protocol === 'udp'

export function whyNotRule(rule: WrittenRule): string | undefined {
  if (hasPorts(rule) && rule.port !== '' && !isPortRange(rule.port))
    return 'ports must be written like 443 or 8000-8080'
  if (rule.peer === 'addresses' && !isRange(rule.addresses))
    return 'addresses must be written like 10.0.0.0/8'
  return rule.peer === 'group' && rule.group === '' ? 'choose a security group' : undefined
}

export const groupRuleOf = (
  rule: WrittenRule,
  groups: readonly { readonly name: string; readonly href: string }[],
): GroupRuleDocument => {
  const { peer, addresses, group, protocol, port } = rule
  const peerGroup = groups.find(({ href }) => href === group)
  return {
    protocol,
    ...(hasPorts(rule) && port !== '' && { portRange: port }),
    ...(peer === 'addresses' && { cidr: addresses }),
    ...(peer === 'group' && peerGroup && { peerGroup: { name: peerGroup.name, href: group } }),
  }
}

/** What a group contains, a line each. */
export const linesOfGroup = (group: SecurityGroupDocument): readonly string[] => [
  `name ${group.name}`,
  ...groupLabelsOf(group).map((label) => `label ${labelText(label)}`),
  ...(['in', 'out'] as const).flatMap((direction) => [
    ...(isLimited(group, direction) ? [`${direction}: only what a rule allows`] : []),
    ...groupRulesOf(group, direction).map((rule) => groupRuleText(rule, direction)),
  ]),
]
