// Goal: changes of a security group touch what they mean and can be made again, and each is a command line.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { SecurityGroupDocument } from '../src/api/security-group-documents.ts'
import { differenceOf } from '../src/model/networks/lines-difference.ts'
import { groupCommand, groupRuleCommand } from '../src/model/networks/network-commands.ts'
import {
  addGroupRule,
  describeGroup,
  groupRuleOf,
  groupRulesOf,
  isLimited,
  linesOfGroup,
  partsOf,
  removeGroupRule,
  ruleNumber,
  whyNotGroup,
  whyNotRule,
  writtenGroup,
  type WrittenRule,
} from '../src/model/networks/security-group.ts'

const ssh = { protocol: 'tcp', portRange: '22', cidr: '10.0.0.0/8' } as const
const https = { protocol: 'tcp', portRange: '443' } as const
const group: SecurityGroupDocument = {
  name: 'web',
  href: '/api/admin/securityGroup/1',
  status: 1,
  version: 3,
  link: [{ rel: 'edit', href: '/api/admin/securityGroup/1' }],
  selector: { label: [{ key: 'role', value: 'web' }] },
  inbound: { rule: [ssh, https] },
  members: { total: 0 },
}

test('a rule is added to its direction, which is limited from then on', () => {
  const dns = { protocol: 'udp', portRange: '53' } as const
  const sent = addGroupRule(dns, 'out')(partsOf(group))
  assert.deepEqual(Object.keys(sent).toSorted(), ['inbound', 'name', 'outbound', 'selector'])
  assert.equal(isLimited(group, 'out'), false)
  assert.deepEqual(groupRulesOf(sent, 'out'), [dns])
  assert.deepEqual(groupRulesOf(sent, 'in'), [ssh, https])
  assert.equal(ruleNumber(sent, 'out', 1), 3, 'what comes in is counted first')
})

test('a rule is removed by its words, also from what someone else has changed, and once', () => {
  const twice = { ...partsOf(group), inbound: { rule: [https, ssh, https] } }
  assert.deepEqual(groupRulesOf(removeGroupRule(https, 'in')(twice), 'in'), [ssh, https])
  const without = removeGroupRule(ssh, 'in')(partsOf(group))
  assert.deepEqual(groupRulesOf(removeGroupRule(ssh, 'in')(without), 'in'), [https])
  const last = removeGroupRule(https, 'in')(without)
  assert.equal(isLimited(last, 'in'), true, 'without rules it accepts nothing')
})

test('labels are written one a line, and a group that is not limited any more loses its rules', () => {
  const written = { ...writtenGroup(group), labels: 'role = web\n\n stage=a=b ', limitsIn: false }
  assert.equal(whyNotGroup(written), undefined)
  const sent = describeGroup(written)(partsOf(group))
  assert.deepEqual(sent.selector?.label, [
    { key: 'role', value: 'web' },
    { key: 'stage', value: 'a=b' },
  ])
  assert.equal(sent.inbound, undefined)
  assert.match(whyNotGroup({ ...written, labels: 'role' }) ?? '', /like role=web/)
  assert.match(whyNotGroup({ ...written, labels: 'a=1\na=2' }) ?? '', /a is there twice/)
  assert.match(whyNotGroup({ ...written, name: '' }) ?? '', /needs a name/)
})

test('a rule that the cloud would refuse has a reason', () => {
  const rule: WrittenRule = {
    direction: 'in',
    protocol: 'tcp',
    port: '80',
    peer: 'anybody',
    addresses: '',
    group: '',
  }
  assert.equal(whyNotRule(rule), undefined)
  assert.match(whyNotRule({ ...rule, port: '90-80' }) ?? '', /ports/)
  assert.match(whyNotRule({ ...rule, peer: 'addresses', addresses: '10.0.0.1' }) ?? '', /10\.0/)
  assert.match(whyNotRule({ ...rule, peer: 'group' }) ?? '', /choose/)
  assert.deepEqual(groupRuleOf({ ...rule, protocol: 'icmp' }, []), { protocol: 'icmp' })
})

test('what someone else changed is listed rule by rule', () => {
  const after = { ...group, ...removeGroupRule(ssh, 'in')(partsOf(group)), outbound: {} }
  assert.deepEqual(differenceOf(linesOfGroup(group), linesOfGroup(after)), {
    added: ['out: only what a rule allows'],
    removed: ['in: tcp 22, 10.0.0.0/8'],
  })
})

test('creating a group and adding a rule are command lines', () => {
  const written = { ...writtenGroup(group), labels: 'role=web\nteam=red blue', limitsOut: true }
  assert.equal(
    groupCommand(written),
    "skerry security-group create web --label role=web --label 'team=red blue' --out",
  )
  assert.equal(groupCommand({ ...written, limitsIn: false }), undefined)
  assert.equal(
    groupRuleCommand('web', ssh, 'out'),
    'skerry security-group allow web --out --protocol tcp --port 22 --peer 10.0.0.0/8',
  )
})
