import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { readBlock } from '@skerry/vm'

import type { Host } from '../src/host/host.ts'
import { KeyedLock } from '../src/host/keyed-lock.ts'
import { KnownOverlay } from '../src/host/known-overlay.ts'
import { firewallOf, translationOf, type RuleChain } from '../src/network/firewall-rules.ts'
import { restoreInput } from '../src/network/firewall.ts'
import { ensureOutbound } from '../src/network/outbound.ts'

const guests: RuleChain = {
  chain: 'SKERRY_GUESTS',
  rules: ['-p tcp -j DROP', '-j DROP'],
  of: { hook: 'INPUT', packets: '-i skerry0' },
}
const tenants: RuleChain = {
  chain: 'SKERRY_TENANTS',
  rules: ['-j DROP'],
  of: { hook: 'INPUT', packets: '-i sk-+' },
}
const leaving: RuleChain = {
  chain: 'SKERRY_LEAVING',
  rules: ['-j REFUSING'],
  of: { hook: 'FORWARD', packets: '-i sk-+' },
}
const refusing: RuleChain = { chain: 'REFUSING', rules: ['-j REJECT'] }
const all = [guests, tenants, leaving, refusing]

const policies = '-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n'
const chains = '-N SKERRY_GUESTS\n-N SKERRY_TENANTS\n-N SKERRY_LEAVING\n'
const [first, second] = [
  '-A INPUT -i skerry0 -j SKERRY_GUESTS\n',
  '-A INPUT -i sk-+ -j SKERRY_TENANTS\n',
]
const between = '-A FORWARD -i sk-+ -j SKERRY_LEAVING\n'
const own = '-A SKERRY_GUESTS -p tcp -j DROP\n-A SKERRY_GUESTS -j DROP\n'
const others = '-A SKERRY_TENANTS -j DROP\n-A SKERRY_LEAVING -j REFUSING\n-A REFUSING -j REJECT\n'

test('a complete firewall is left alone', () => {
  assert.equal(
    restoreInput(policies + chains + first + second + between + own + others, all),
    undefined,
  )
  const before = `${policies}${chains}${first}${second}-A INPUT -j OTHER\n${between}-A FORWARD -j OTHER\n`
  assert.equal(restoreInput(before + own + others, all), undefined)
})

test('a missing firewall is created at once', () => {
  assert.equal(
    restoreInput(policies, [guests]),
    '*filter\n:SKERRY_GUESTS - [0:0]\n-A SKERRY_GUESTS -p tcp -j DROP\n-A SKERRY_GUESTS -j DROP\n-I INPUT 1 -i skerry0 -j SKERRY_GUESTS\nCOMMIT\n',
  )
  assert.match(
    restoreInput(policies, all) ?? '',
    /-I FORWARD 1 -i sk-\+ -j SKERRY_LEAVING\n-I INPUT 1 -i sk-\+ -j SKERRY_TENANTS\n-I INPUT 1 -i skerry0 -j SKERRY_GUESTS\nCOMMIT\n$/,
  )
})

test('it is repaired if a rule is missing, changed or in another order', () => {
  const jumps = policies + chains + first + second + between
  for (const broken of ['', '-A SKERRY_GUESTS -j DROP\n', `${own}-A SKERRY_GUESTS -j ACCEPT\n`])
    assert.ok(restoreInput(jumps + broken + others, all))
  assert.ok(restoreInput(jumps + own + '-A SKERRY_TENANTS -j DROP\n', all))
  assert.ok(restoreInput(jumps + own + others.replace('-A REFUSING -j REJECT\n', ''), all))
  assert.ok(restoreInput(policies + chains + second + first + between + own + others, all))
  assert.ok(restoreInput(policies + chains + first + second + own + others, all))
})

test('rules inserted before it are moved behind it, and it is there once', () => {
  const behind = restoreInput(`${policies}${chains}-A INPUT -j LIBVIRT_INP\n${first}${own}`, [
    guests,
  ])
  assert.match(behind ?? '', /-D INPUT -i skerry0 -j SKERRY_GUESTS\n-I INPUT 1 /)
  const twice = restoreInput(policies + chains + first + first + own, [guests])
  assert.equal(twice?.match(/-D INPUT/g)?.length, 2)
  const forwards = `${policies}${chains}${first}${second}-A FORWARD -j LIBVIRT_FWX\n${between}`
  assert.match(
    restoreInput(forwards + own + others, all) ?? '',
    /-D FORWARD -i sk-\+ -j SKERRY_LEAVING\n/,
  )
})

test('an organisation cannot reach the host’s own networks, and only replies reach it', () => {
  const around = {
    bridges: ['sk-2', 'sk-1'],
    own: [readBlock('10.91.0.7/16')],
    metadata: true,
    outbound: false,
  }
  const rulesOf = (chain: string, family: 'iptables' | 'ip6tables' = 'iptables') =>
    firewallOf(family, around).find((each) => each.chain === chain)?.rules
  const within = ['-i sk-1 -o sk-1 -j RETURN', '-i sk-2 -o sk-2 -j RETURN']
  const refuse = '-j SKERRY_REFUSING'
  assert.deepEqual(rulesOf('SKERRY_LEAVING'), [
    ...within,
    ...['-o sk-+', '-o skerry0', '-d 10.83.0.0/16', '-d 10.84.0.0/14', '-d 10.91.0.0/16'].map(
      (packets) => `${packets} ${refuse}`,
    ),
  ])
  assert.deepEqual(rulesOf('SKERRY_ENTERING'), [
    ...within,
    `-i skerry0 ${refuse}`,
    '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    refuse,
  ])
  for (const chain of ['SKERRY_LEAVING', 'SKERRY_ENTERING'])
    assert.deepEqual(rulesOf(chain, 'ip6tables'), [...within, '-j DROP'])
})

test('no guest reaches the metadata of its host’s provider, unless the operator allows it', () => {
  const rulesOf = (family: 'iptables' | 'ip6tables', chain: string, metadata: boolean) =>
    firewallOf(family, { bridges: ['sk-1'], own: [], metadata, outbound: false }).find(
      (each) => each.chain === chain,
    )
  const closed = ['-d 100.100.100.200/32', '-d 169.254.0.0/16'].map(
    (packets) => `${packets} -j SKERRY_REFUSING`,
  )
  const local = rulesOf('iptables', 'SKERRY_METADATA', false)
  assert.deepEqual(local?.of, { hook: 'FORWARD', packets: '-i skerry0' })
  assert.deepEqual(local.rules, closed)
  assert.deepEqual(rulesOf('ip6tables', 'SKERRY_METADATA', false)?.rules, [
    '-d fd00:ec2::254/128 -j DROP',
  ])
  const tenants = (metadata: boolean) => rulesOf('iptables', 'SKERRY_LEAVING', metadata)?.rules
  for (const rule of closed) {
    assert.ok(tenants(false)?.includes(rule), rule)
    assert.ok(!tenants(true)?.includes(rule), rule)
  }
  // All IPv6 traffic stays within an organisation's own bridge.
  assert.equal(rulesOf('ip6tables', 'SKERRY_LEAVING', false)?.rules.at(-1), '-j DROP')
  for (const family of ['iptables', 'ip6tables'] as const)
    assert.deepEqual(rulesOf(family, 'SKERRY_METADATA', true)?.rules, [])
})

test('the way out of networks across hosts: no packet but DNS reaches the host or its networks, all else is translated', () => {
  const around = { bridges: [], own: [readBlock('192.0.2.7/24')], metadata: true }
  const rules = (outbound: boolean, chain: string) =>
    firewallOf('iptables', { ...around, outbound }).find((each) => each.chain === chain)?.rules
  const added = (chain: string) => {
    const before = rules(false, chain) ?? []
    return (rules(true, chain) ?? []).filter((rule) => !before.includes(rule))
  }
  const tenants = [
    '-d 100.64.0.1/32 -i sk-out -p udp -m udp --dport 53 -j RETURN',
    '-d 100.64.0.1/32 -i sk-out -p tcp -m tcp --dport 53 -j RETURN',
    '-i sk-out -j SKERRY_REFUSING',
  ]
  assert.deepEqual(added('SKERRY_TENANTS'), tenants)
  assert.deepEqual(rules(true, 'SKERRY_TENANTS')?.slice(0, 3), tenants)
  const leaving = rules(true, 'SKERRY_LEAVING') ?? []
  assert.deepEqual(leaving.slice(-2), [
    '-s 100.64.0.0/16 -i sk-out -j ACCEPT',
    '-i sk-out -j SKERRY_REFUSING',
  ])
  assert.ok(leaving.indexOf('-d 192.0.2.0/24 -j SKERRY_REFUSING') < leaving.length - 2)
  assert.deepEqual(added('SKERRY_ENTERING'), [
    '-o sk-out -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
  ])
  assert.deepEqual(translationOf({ ...around, outbound: false }), [])
  const nat = translationOf({ ...around, outbound: true })
  assert.equal(
    restoreInput('-P POSTROUTING ACCEPT\n-A POSTROUTING -j LIBVIRT_PRT\n', nat, 'nat'),
    '*nat\n:SKERRY_OUTBOUND - [0:0]\n-A SKERRY_OUTBOUND -d 100.64.0.0/16 -j RETURN\n-A SKERRY_OUTBOUND -j MASQUERADE\n-I POSTROUTING 1 -s 100.64.0.0/16 -j SKERRY_OUTBOUND\nCOMMIT\n',
  )
})

test('a host is not the way out while its firewall could not be installed', async () => {
  let attempts = 0
  const records = {
    all() {
      attempts += 1
      throw new Fault('unavailable', 'iptables failed')
    },
  }
  const host = { hasFirewall: true, overlay: new KnownOverlay(), locks: new KeyedLock(), records }
  for (const attempt of [1, 2]) {
    await assert.rejects(ensureOutbound(host as unknown as Host), { message: 'iptables failed' })
    assert.equal(attempts, attempt)
  }
})
