import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  whyNotBridge,
  whyNotGuestPath,
  whyNotId,
  whyNotName,
  whyNotSnapshotName,
  whyNotTag,
} from '@skerry/vm'

test('ids of the contract are valid', () => {
  for (const id of ['a', 'vm-7', 'A.b_c-9', '0', 'x'.repeat(63), 'powered']) {
    assert.equal(whyNotId(id), undefined, id)
  }
})

test('other ids are rejected with the pattern', () => {
  for (const id of ['', '-a', '.a', '_a', 'a b', 'a/b', 'a\n', 'ä', 'x'.repeat(64), '../etc']) {
    assert.match(whyNotId(id) ?? '', /must match/, JSON.stringify(id))
  }
})

test('path segments of the API are invalid ids, in any case', () => {
  for (const id of ['power', 'Folders', 'IPADDRESS']) assert.match(whyNotId(id) ?? '', /one of/)
})

test('a bridge name is valid for the kernel and safe in a shell or a path', () => {
  for (const name of ['br0', 'br-lan.7', 'x'.repeat(15)])
    assert.equal(whyNotBridge(name), undefined)
  for (const name of ['', '.', '..', '-a', 'a/b', 'a b', 'a\n', 'ä', 'x'.repeat(16), '$(id)'])
    assert.match(whyNotBridge(name) ?? '', /must match/, JSON.stringify(name))
})

test('names are 1 to 128 characters without control characters', () => {
  for (const name of ['x', 'Ünïcode ✓', '😀'.repeat(128), '<&>"\''])
    assert.equal(whyNotName(name), undefined)
  for (const name of [
    '',
    'x'.repeat(129),
    'a\nb',
    'a\u0000',
    '\u007f',
    '\u0085',
    '\ud800',
    '\uffff',
  ]) {
    assert.notEqual(whyNotName(name), undefined, JSON.stringify(name))
  }
})

test('tags are at most 1,024 characters', () => {
  assert.equal(whyNotTag(''), undefined)
  assert.equal(whyNotTag('t\n'.repeat(512)), undefined)
  assert.notEqual(whyNotTag('t'.repeat(1025)), undefined)
  assert.notEqual(whyNotTag('\udc00'), undefined)
})

test('a guest path is one plain name', () => {
  for (const path of ['src', 'a.b', '...', '-x', '_'])
    assert.equal(whyNotGuestPath(path), undefined)
  for (const path of ['', '.', '..', 'a/b', 'a b', 'x'.repeat(65), 'a\0']) {
    assert.notEqual(whyNotGuestPath(path), undefined, JSON.stringify(path))
  }
})

test('a snapshot name cannot be read as an option', () => {
  assert.equal(whyNotSnapshotName('before-upgrade'), undefined)
  assert.notEqual(whyNotSnapshotName('-rf'), undefined)
})
