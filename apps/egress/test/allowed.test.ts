// Goal: no address leads to an internal network, however it is written, and only listed servers are called. Method: a table of
// addresses, as text and as results of a DNS lookup.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { isPublic, plainAddress } from '@skerry/service'

import { findTarget, chooseAddress, type EgressRule } from '../src/allowed.ts'

const everything: readonly EgressRule[] = ['http', 'https'].map((scheme) => ({
  host: '*.example',
  ports: [80, 443, 8443],
  schemes: [scheme as 'http' | 'https'],
}))
const kindOf = (work: () => unknown): string => {
  try {
    work()
    return 'allowed'
  } catch (error) {
    return error instanceof Fault ? error.kind : String(error)
  }
}

test('only listed servers are allowed, by name, port and scheme', () => {
  const rules: EgressRule[] = [
    { host: 'api.shore.example' },
    { host: '*.tide.example', ports: [8443] },
  ]
  const cases: [string, string][] = [
    ['https://api.shore.example/x?y=1', 'allowed'],
    ['https://API.Shore.Example./x', 'allowed'],
    ['http://api.shore.example/', 'forbidden'],
    ['https://api.shore.example:8443/', 'forbidden'],
    ['https://shore.example/', 'forbidden'],
    ['https://api.shore.example.evil.example/', 'forbidden'],
    ['https://evil.example/api.shore.example', 'forbidden'],
    ['https://a.tide.example:8443/', 'allowed'],
    ['https://a.b.tide.example:8443/', 'allowed'],
    ['https://tide.example:8443/', 'forbidden'],
    ['https://eviltide.example:8443/', 'forbidden'],
    ['https://a.tide.example/', 'forbidden'],
  ]
  for (const [uri, kind] of cases)
    assert.equal(
      kindOf(() => findTarget(rules, uri)),
      kind,
      uri,
    )
  assert.equal(
    kindOf(() => findTarget([], 'https://api.shore.example/')),
    'forbidden',
  )
})

test('an invalid server URL is rejected before any DNS lookup', () => {
  const hostile = [
    'https://user:pass@a.example/',
    'https://user@a.example/',
    'https://a.example@evil.example/',
    'https://a.example/\r\nHost: b',
    'https://a.exa\tmple/',
    'https:\\\\a.example\\',
    ' https://a.example/',
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a.example/',
    'javascript:1',
    'unix:/run/x',
    '//a.example/',
    'a.example',
    '',
    'https://',
    'https://ａ.example/',
    'https://a.example:99999/',
  ]
  for (const uri of hostile) {
    assert.notEqual(
      kindOf(() => findTarget(everything, uri)),
      'allowed',
      JSON.stringify(uri),
    )
  }
})

test('internal addresses are rejected, however they are written', () => {
  const inside = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '0',
    '017700000001',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '2852039166',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fec0::1]',
    '[ff02::1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    '①②⑦.⓪.⓪.①',
  ]
  for (const host of inside) {
    const uri = `https://${host}/`
    assert.notEqual(
      kindOf(() => findTarget(everything, uri)),
      'allowed',
      uri,
    )
    // Even if a pattern on the list matched the name, its address would still be rejected.
    const address = plainAddress(URL.parse(uri)?.hostname ?? '')
    if (address !== undefined) assert.equal(isPublic(address), false, address)
  }
})

test('a name that resolves to an internal address is rejected, even if it has public addresses too', () => {
  const target = findTarget(everything, 'https://a.example/')
  const pick = (...found: string[]) => kindOf(() => chooseAddress(target, found))
  assert.equal(pick('93.184.215.14'), 'allowed')
  assert.equal(pick('2606:2800:21f:cb07:6820:80da:af6b:8b2c'), 'allowed')
  assert.equal(pick(), 'unavailable')
  const inside = [
    '127.0.0.1',
    '::1',
    '::ffff:10.0.0.1',
    '169.254.169.254',
    'fe80::1%eth0',
    '10.1.2.3',
    'fd00::1',
    '64:ff9b::1',
  ]
  for (const address of inside) {
    assert.equal(pick(address), 'forbidden', address)
    assert.equal(pick('93.184.215.14', address), 'forbidden', address)
  }
})

test('an internal address is allowed if the list names it exactly', () => {
  const rules: EgressRule[] = [
    { host: '10.1.2.3' },
    { host: 'hook.inside.example', addresses: ['10.1.2.4', 'fd00::4'] },
    { host: '[fd00::5]' },
  ]
  const pick = (uri: string, found: string) =>
    kindOf(() => chooseAddress(findTarget(rules, uri), [found]))
  assert.equal(pick('https://10.1.2.3/', '10.1.2.3'), 'allowed')
  assert.equal(pick('https://0xa.1.2.3/', '10.1.2.3'), 'allowed')
  assert.equal(pick('https://[fd00:0::5]/', 'fd00::5'), 'allowed')
  assert.equal(pick('https://hook.inside.example/', '10.1.2.4'), 'allowed')
  assert.equal(pick('https://hook.inside.example/', '10.1.2.5'), 'forbidden')
  assert.equal(
    kindOf(() => findTarget(rules, 'https://10.1.2.4/')),
    'forbidden',
  )
})
