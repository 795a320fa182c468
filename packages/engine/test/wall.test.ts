import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readBlock } from '../src/ipv4.ts'
import { wallOf, type Part } from '../src/wall-rules.ts'
import { mend } from '../src/wall.ts'

const guests: Part = {
  ...{ chain: 'SKERRY_GUESTS', rules: ['-p tcp -j DROP', '-j DROP'] },
  of: { hook: 'INPUT', packets: '-i skerry0' },
}
const tenants: Part = {
  ...{ chain: 'SKERRY_TENANTS', rules: ['-j DROP'], of: { hook: 'INPUT', packets: '-i sk-+' } },
}
const leaving: Part = {
  ...{
    chain: 'SKERRY_LEAVING',
    rules: ['-j REFUSING'],
    of: { hook: 'FORWARD', packets: '-i sk-+' },
  },
}
const refusing: Part = { chain: 'REFUSING', rules: ['-j REJECT'] }
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

test('a whole wall is left alone', () => {
  assert.equal(mend(policies + chains + first + second + between + own + others, all), undefined)
  const before = `${policies}${chains}${first}${second}-A INPUT -j OTHER\n${between}-A FORWARD -j OTHER\n`
  assert.equal(mend(before + own + others, all), undefined)
})

test('where there is none it is built in one go', () => {
  assert.equal(
    mend(policies, [guests]),
    '*filter\n:SKERRY_GUESTS - [0:0]\n-A SKERRY_GUESTS -p tcp -j DROP\n-A SKERRY_GUESTS -j DROP\n-I INPUT 1 -i skerry0 -j SKERRY_GUESTS\nCOMMIT\n',
  )
  assert.match(
    mend(policies, all) ?? '',
    /-I FORWARD 1 -i sk-\+ -j SKERRY_LEAVING\n-I INPUT 1 -i sk-\+ -j SKERRY_TENANTS\n-I INPUT 1 -i skerry0 -j SKERRY_GUESTS\nCOMMIT\n$/,
  )
})

test('it is mended where a rule is missing, changed or in another order', () => {
  const jumps = policies + chains + first + second + between
  for (const broken of ['', '-A SKERRY_GUESTS -j DROP\n', `${own}-A SKERRY_GUESTS -j ACCEPT\n`])
    assert.ok(mend(jumps + broken + others, all))
  assert.ok(mend(jumps + own + '-A SKERRY_TENANTS -j DROP\n', all))
  assert.ok(mend(jumps + own + others.replace('-A REFUSING -j REJECT\n', ''), all))
  assert.ok(mend(policies + chains + second + first + between + own + others, all))
  assert.ok(mend(policies + chains + first + second + own + others, all))
})

test('what came before it goes behind it again, and it stands there once', () => {
  const behind = mend(`${policies}${chains}-A INPUT -j LIBVIRT_INP\n${first}${own}`, [guests])
  assert.match(behind ?? '', /-D INPUT -i skerry0 -j SKERRY_GUESTS\n-I INPUT 1 /)
  const twice = mend(policies + chains + first + first + own, [guests])
  assert.equal(twice?.match(/-D INPUT/g)?.length, 2)
  const forwards = `${policies}${chains}${first}${second}-A FORWARD -j LIBVIRT_FWX\n${between}`
  assert.match(mend(forwards + own + others, all) ?? '', /-D FORWARD -i sk-\+ -j SKERRY_LEAVING\n/)
})

test('an organisation leaves for nothing that the host is in, and only answers come to it', () => {
  const around = { bridges: ['sk-2', 'sk-1'], own: [readBlock('10.91.0.7/16')] }
  const rulesOf = (chain: string, family: 'iptables' | 'ip6tables' = 'iptables') =>
    wallOf(family, around).find((each) => each.chain === chain)?.rules
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
