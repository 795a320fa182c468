// Goal: the counters of a VM are what libvirt reports, whatever integer type it chose, and nothing else. Method: typed parameters.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { param } from '@skerry/libvirt'

import { readCounters } from '../src/guest/counters.ts'

test('bytes of the network are those of all cards; what is not reported is missing', () => {
  const counters = readCounters([
    param.ullong('cpu.time', 7n),
    param.uint('vcpu.current', 2),
    param.uint('net.count', 3),
    param.ullong('net.0.rx.bytes', 10n),
    param.ullong('net.0.tx.bytes', 1n),
    param.ullong('net.2.rx.bytes', 5n),
    param.ullong('block.0.rd.bytes', 9n),
  ])
  assert.deepEqual(counters, {
    cpuNanoseconds: 7n,
    cpus: 2n,
    readBytes: 9n,
    receivedBytes: 15n,
    sentBytes: 1n,
  })
  assert.deepEqual(readCounters([]), {})
})
