import { Fault } from '@skerry/fault'
import { blockText, isBlockText, readBlock, UUID } from '@skerry/vm'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import type {
  ChangedSecurityGroup,
  GroupLabel,
  GroupRule,
  PeerName,
  WantedSecurityGroup,
} from '../tenants/security-groups.ts'
import { childText } from './child-text.ts'
import { checkKey } from './metadata.ts'
import { nameIn, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

const [SHAPE, MEDIA] = ['SecurityGroup', 'admin.securityGroup'] as const
const RULES_MAX = 64
const LABELS_MAX = 16
const VALUE_MAX = 256
const DESCRIPTION_MAX = 1024
const PEER = new RegExp(`(${UUID})$`)
const PORTS = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?$/
const protocols = ['tcp', 'udp', 'icmp', 'any'] as const

const invalid = (message: string, hint?: string): Fault =>
  new Fault('invalid', message, hint === undefined ? {} : { hint })

const only = (root: Element, name: string): Element | undefined => {
  const [first, another] = childrenByLocalName(root, name)
  if (another) throw invalid(`only one ${name} is allowed`)
  return first
}

function labelsIn(root: Element): readonly GroupLabel[] {
  const selector = only(root, 'Selector')
  const labels = (selector ? childrenByLocalName(selector, 'Label') : []).map((label) => {
    const key = checkKey(text(only(label, 'Key')) ?? '')
    const value = text(only(label, 'Value')) ?? ''
    if (value.length > VALUE_MAX) {
      throw invalid(`the value of label ${key} must have at most ${VALUE_MAX} characters`)
    }
    return { key, value }
  })
  if (labels.length > LABELS_MAX) throw invalid(`a selector can have at most ${LABELS_MAX} labels`)
  const twice = labels.find(({ key }, at) => labels.findIndex((each) => each.key === key) !== at)
  if (twice)
    throw invalid(`the selector has the key ${twice.key} twice: no VM has two values of it`)
  return labels
}

function portsIn(rule: Element, protocol: GroupRule['protocol']): Pick<GroupRule, 'ports'> {
  const written = childText(rule, 'PortRange')?.trim() ?? ''
  if (written === '') return {}
  if (protocol !== 'tcp' && protocol !== 'udp') throw invalid('only tcp and udp have a PortRange')
  const [, first = '', last = first] = PORTS.exec(written) ?? []
  const [low, high] = [Number(first), Number(last)]
  if (first === '' || low < 1 || high > 65_535 || low > high) {
    throw invalid(`PortRange must be a port or two, such as 443 or 8000-8100, not ${written}`)
  }
  return { ports: { low, high } }
}

function blockIn(rule: Element): Pick<GroupRule, 'block'> {
  const written = childText(rule, 'Cidr')?.trim() ?? ''
  if (written === '') return {}
  if (isBlockText(written)) return { block: blockText(readBlock(written)) }
  throw invalid(`Cidr must be a block of IPv4 addresses, such as 10.0.0.0/8, not ${written}`)
}

function peerIn(rule: Element): { readonly peer?: PeerName } {
  const reference = only(rule, 'PeerGroup')
  if (!reference) return {}
  const written = attribute(reference, 'href') ?? attribute(reference, 'id')
  const [, id] = PEER.exec(written ?? '') ?? []
  if (id !== undefined) return { peer: { id } }
  const name = attribute(reference, 'name')
  if (written === undefined && name !== undefined) return { peer: { name } }
  throw invalid('PeerGroup must have the href, the id or the name of a security group')
}

function ruleIn(rule: Element, direction: GroupRule['direction']): GroupRule {
  const written = childText(rule, 'Protocol')?.trim()
  const protocol = protocols.find((each) => each === written)
  if (protocol === undefined) throw invalid(`Protocol must be one of ${protocols.join(', ')}`)
  const [block, peer] = [blockIn(rule), peerIn(rule)]
  if (block.block !== undefined && peer.peer !== undefined) {
    throw invalid('a Rule has a Cidr or a PeerGroup, not both', 'write two rules')
  }
  return { direction, protocol, ...portsIn(rule, protocol), ...block, ...peer }
}

/** The parts that each request writes as a whole. */
function partsIn(root: Element): Omit<WantedSecurityGroup, 'name'> {
  const description = childText(root, 'Description')
  if (description !== undefined && description.length > DESCRIPTION_MAX) {
    throw invalid(`Description must have at most ${DESCRIPTION_MAX} characters`)
  }
  const [inbound, outbound] = [only(root, 'Inbound'), only(root, 'Outbound')]
  const rulesIn = (section: Element | undefined, direction: GroupRule['direction']) =>
    section ? childrenByLocalName(section, 'Rule').map((rule) => ruleIn(rule, direction)) : []
  const rules = [...rulesIn(inbound, 'in'), ...rulesIn(outbound, 'out')]
  if (rules.length > RULES_MAX)
    throw invalid(`a security group can have at most ${RULES_MAX} rules`)
  return {
    ...(description !== undefined && { description }),
    labels: labelsIn(root),
    limitsIn: inbound !== undefined,
    limitsOut: outbound !== undefined,
    rules,
  }
}

const example = (name: string): Element =>
  element(
    SHAPE,
    { name },
    element('Description', {}, 'Web servers'),
    element(
      'Selector',
      {},
      element('Label', {}, element('Key', {}, 'role'), element('Value', {}, 'web')),
    ),
    element(
      'Inbound',
      {},
      element(
        'Rule',
        {},
        element('Protocol', {}, 'tcp'),
        element('PortRange', {}, '443'),
        element('Cidr', {}, '203.0.113.0/24'),
      ),
      element('Rule', {}, element('Protocol', {}, 'icmp'), element('PeerGroup', { name })),
    ),
  )

/** SecurityGroup: one to create. */
export const newSecurityGroup: RequestDocument<WantedSecurityGroup> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'web' }) => example(name),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    return { name: nameIn(root), ...partsIn(root) }
  },
}

/** SecurityGroup, as it was read and changed. Selector, Inbound and Outbound are replaced; name and Description stay if they are missing. */
export const changedSecurityGroup: RequestDocument<ChangedSecurityGroup> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'front' }) => example(name),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const version = attribute(root, 'version')
    if (version !== undefined && !/^\d{1,9}$/.test(version))
      throw invalid('version must be a number')
    return {
      ...(attribute(root, 'name') !== undefined && { name: nameIn(root) }),
      ...(version !== undefined && { version: Number(version) }),
      ...partsIn(root),
    }
  },
}
