import assert from 'node:assert/strict'
import { test } from 'node:test'

import { mend } from '../src/wall.ts'

const rules = ['-p tcp -j DROP', '-j DROP']
const policies = '-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n'
const chain = '-N SKERRY_GUESTS\n'
const jump = '-A INPUT -i skerry0 -j SKERRY_GUESTS\n'
const own = '-A SKERRY_GUESTS -p tcp -j DROP\n-A SKERRY_GUESTS -j DROP\n'

test('a whole wall is left alone', () => {
  assert.equal(mend(policies + chain + jump + own, rules), undefined)
  assert.equal(mend(`${policies}${chain}${jump}-A INPUT -j OTHER\n${own}`, rules), undefined)
})

test('where there is none it is built in one go', () => {
  assert.equal(
    mend(policies, rules),
    '*filter\n:SKERRY_GUESTS - [0:0]\n-A SKERRY_GUESTS -p tcp -j DROP\n-A SKERRY_GUESTS -j DROP\n-I INPUT 1 -i skerry0 -j SKERRY_GUESTS\nCOMMIT\n',
  )
})

test('it is mended where a rule is missing, changed or in another order', () => {
  for (const broken of ['', '-A SKERRY_GUESTS -j DROP\n', `${own}-A SKERRY_GUESTS -j ACCEPT\n`])
    assert.ok(mend(policies + chain + jump + broken, rules))
})

test('what came before it goes behind it again, and it stands there once', () => {
  const behind = mend(`${policies}${chain}-A INPUT -j LIBVIRT_INP\n${jump}${own}`, rules)
  assert.match(behind ?? '', /-D INPUT -i skerry0 -j SKERRY_GUESTS\n-I INPUT 1 /)
  const twice = mend(policies + chain + jump + jump + own, rules)
  assert.equal(twice?.match(/-D INPUT/g)?.length, 2)
})
