// Goal: the page's logic without a display: which screen to open, the texts for each end, which keys to press.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { endings } from '../src/index.ts'
import { readAddress } from '../src/page/address.ts'
import { explain } from '../src/page/explain.ts'
import { chordOf, chords, ctrlAltDel, strokes } from '../src/page/keys.ts'

const cloud = (search: string, kept: unknown = null) =>
  readAddress({ pathname: '/console', search, kept })

test('the query is decoded once for the ticket text, and the ticket once more', () => {
  const ticket = 'cst-QUJD/REVG=--tp-1D:87--'
  const text = `mks://console.example:8443/vm-302?ticket=${encodeURIComponent(ticket)}`
  assert.deepEqual(cloud(`?${encodeURIComponent(text)}`), {
    mode: 'cloud',
    name: 'vm-302',
    socket: `/screen/vm-302?ticket=${encodeURIComponent(ticket)}`,
  })
  // A client that encodes less than required is understood all the same.
  assert.deepEqual(cloud('?mks://h/vm-302?ticket=abc'), {
    mode: 'cloud',
    name: 'vm-302',
    socket: '/screen/vm-302?ticket=abc',
  })
})

test('for any address, the page connects to its own origin', () => {
  for (const text of [
    'mks://evil.example/vm-1?ticket=x',
    'mks://evil.example//evil.example?ticket=x',
    'mks://e/..%2f..%2fhealth?ticket=x',
    'mks://e/%2f%2fevil.example/?ticket=x',
  ]) {
    const address = cloud(`?${encodeURIComponent(text)}`)
    if (address.mode === 'none') continue
    const url = new URL(address.socket, 'https://console.example/console')
    assert.equal(url.origin, 'https://console.example')
    assert.ok(url.pathname.startsWith('/screen/'), url.pathname)
  }
})

test('a missing, a used and an invalid ticket are distinguished', () => {
  assert.deepEqual(cloud(''), { mode: 'none', why: 'no ticket' })
  assert.deepEqual(cloud('?'), { mode: 'none', why: 'no ticket' })
  assert.deepEqual(cloud('', { hadTicket: true }), { mode: 'none', why: 'ticket used' })
  for (const search of ['?hello', '?%', '?mks://h/vm-1', '?mks%3A%2F%2Fh%2Fvm-1%3Fticket%3D%25'])
    assert.deepEqual(cloud(search), { mode: 'none', why: 'no ticket at all' }, search)
})

test('on a laptop the VM is in the path', () => {
  const local = (pathname: string, search = '') => readAddress({ pathname, search, kept: null })
  assert.deepEqual(local('/console/web'), {
    mode: 'laptop',
    name: 'web',
    socket: '/console/web/screen',
  })
  assert.deepEqual(local('/console/web', '?ticket=a%2Fb'), {
    mode: 'laptop',
    name: 'web',
    socket: '/console/web/screen?ticket=a%2Fb',
  })
})

test('every end of a console has its own text, with advice', () => {
  const said = Object.values(endings)
    .filter(({ code }) => code !== endings.textRefused.code)
    .map(({ code }) => explain('cloud', { how: 'closed', code }))
  assert.equal(new Set(said.map(({ headline }) => headline)).size, said.length)
  for (const { advice } of said) assert.ok(advice.length > 0)
  assert.match(explain('cloud', { how: 'closed', code: 1006 }).headline, /lost/)
  assert.match(explain('cloud', { how: 'refused' }).advice.join(' '), /used.*new ticket/)
  assert.match(explain('cloud', { how: 'ticket used' }).headline, /used/)
})

test('only a laptop reconnects by itself, and not if that is useless', () => {
  const closed = { how: 'closed', code: 1006 } as const
  assert.ok(explain('laptop', closed).comesBack)
  assert.ok(explain('laptop', { how: 'closed', code: 4001 }).comesBack)
  assert.ok(!explain('laptop', { how: 'no such VM' }).comesBack)
  assert.ok(!explain('cloud', closed).comesBack)
})

test('in the web UI every end has a text without steps for tickets, and it reconnects if that can help', () => {
  for (const { code } of Object.values(endings)) {
    const { headline, advice, comesBack } = explain('docked', { how: 'closed', code })
    assert.ok(headline !== '' && advice.length > 0, String(code))
    assert.doesNotMatch(advice.join(' '), /ticket/i)
    assert.equal(comesBack, code !== endings.rightLost.code && code !== endings.tooMany.code)
  }
  assert.match(explain('docked', { how: 'refused' }).advice.join(' '), /in a window/)
})

test('keys are pressed in order and released in reverse order', () => {
  const pressed = strokes(ctrlAltDel).map(
    ([{ code }, isDown]) => `${code} ${isDown ? 'down' : 'up'}`,
  )
  assert.deepEqual(pressed, [
    'ControlLeft down',
    'AltLeft down',
    'Delete down',
    'Delete up',
    'AltLeft up',
    'ControlLeft up',
  ])
  const names = chords.map(({ name }) => name)
  for (const name of ['Esc', 'Tab', 'Windows', 'Print', 'Ctrl-Alt-F1', 'Ctrl-Alt-F12'])
    assert.ok(names.includes(name), name)
})

test('a character is typed as on a keyboard: with Shift if needed', () => {
  const typed = (character: string) => chordOf(character).keys.map(({ keysym }) => keysym)
  assert.deepEqual(typed('a'), [0x61])
  assert.deepEqual(typed('A'), [0xffe1, 0x41])
  assert.deepEqual(typed('|'), [0xffe1, 0x7c])
  assert.deepEqual(typed('\n'), [0xff0d])
  assert.deepEqual(typed('é'), [0xe9])
  assert.deepEqual(typed('€'), [0x10020ac])
})
