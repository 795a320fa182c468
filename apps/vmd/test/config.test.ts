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
