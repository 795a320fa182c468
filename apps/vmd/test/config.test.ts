import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readConfig } from '../src/config.ts'

test('the host API listens on the configured address; default: all addresses', () => {
  const where = (...args: string[]) => readConfig(args, {}).hostApi
  assert.deepEqual(where(), { address: '::', port: 8443 })
  assert.deepEqual(where('--host-api', '192.0.2.7:443'), { address: '192.0.2.7', port: 443 })
  assert.deepEqual(where('--host-api', '[fd00::7]:8443'), { address: 'fd00::7', port: 8443 })
})

for (const wrong of ['', '8443', ':8443', 'host:8443', '192.0.2.7', '192.0.2.7:0', '::1:8443']) {
  test(`'${wrong}' is an invalid listen address for the host API`, () => {
    assert.throws(() => readConfig(['--host-api', wrong], {}), { kind: 'invalid' })
  })
}

test('uplinks have a name and a card or bridge', () => {
  const { uplinks } = readConfig(['--uplink', 'site=eth1', '--uplink', 'dmz=br-dmz'], {})
  assert.deepEqual(uplinks, [
    { name: 'site', device: 'eth1' },
    { name: 'dmz', device: 'br-dmz' },
  ])
})

const wrongUplinks = [
  'site',
  '=eth1',
  'site=',
  'a=b=c',
  'Site=eth1',
  'out=eth1',
  'int=eth1',
  'a=../b',
]
for (const wrong of [
  ...wrongUplinks.map((each) => [each]),
  ['a=eth1', 'a=eth2'],
  ['a=eth1', 'b=eth1'],
]) {
  test(`'${wrong.join(' ')}' are invalid uplinks`, () => {
    const words = wrong.flatMap((each) => ['--uplink', each])
    assert.throws(() => readConfig(words, {}), { kind: 'invalid' })
  })
}
