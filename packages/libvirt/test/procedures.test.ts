import assert from 'node:assert/strict'
import { test } from 'node:test'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { HEADER_BYTES } from '../src/frame.ts'
import * as libvirt from '../src/index.ts'
import { XdrReader, XdrWriter } from '../src/xdr.ts'
import { arbitrary } from './arbitrary.ts'

type AnyProcedure = libvirt.Procedure<unknown, unknown> | libvirt.StreamProcedure<unknown, unknown>

const exported = Object.values(libvirt) as unknown[]
const procedures = exported.filter((one): one is AnyProcedure => has(one, 'args'))
const events = exported.filter((one): one is libvirt.DomainEvent<unknown> => has(one, 'body'))

function has(one: unknown, key: string): boolean {
  return typeof one === 'object' && one !== null && key in one && 'number' in one
}

function roundTrip(codec: libvirt.Codec<unknown>, value: unknown): unknown {
  const out = new XdrWriter()
  out.begin(HEADER_BYTES)
  codec.write(out, value)
  const from = new XdrReader(Buffer.from(out.end()), HEADER_BYTES)
  const read = codec.read(from)
  from.finish()
  return read
}

test('every call and every event encodes and decodes any value of its shape', () => {
  const random = seededRandom(3)
  const codecs = procedures.flatMap(({ name, args, ret }) => [
    { name, codec: args },
    { name, codec: ret },
  ])
  for (const { name, body } of events) codecs.push({ name, codec: body })
  assert.ok(codecs.length > 450)
  for (const { name, codec } of codecs) {
    for (let round = 0; round < 25; round += 1) {
      const value = arbitrary(codec, random)
      assert.deepEqual(roundTrip(codec, value), value, name)
    }
  }
})

test('no two calls or events share a number, and each has the name it is exported under', () => {
  const seen = new Map<string, string>()
  for (const [key, one] of Object.entries(libvirt)) {
    if (!has(one, 'number')) continue
    const { name, program, number } = one as AnyProcedure
    assert.equal(name, key)
    assert.equal(seen.get(`${program}:${number}`), undefined)
    seen.set(`${program}:${number}`, name)
  }
})

test('the numbers are those of libvirt', () => {
  assert.equal(libvirt.connectOpen.number, 1)
  assert.equal(libvirt.domainCreateWithFlags.number, 196)
  assert.equal(libvirt.domainMigrateFinish3Params.number, 306)
  assert.equal(libvirt.qemuDomainMonitorCommand.program, 0x20008087)
  assert.equal(libvirt.domainEventLifecycle.number, 318)
  assert.equal(libvirt.ErrorCode.noDomain, 42)
  assert.equal(libvirt.DomainMigrateFlags.nonSharedDisk, 64)
  assert.equal(libvirt.ConnectGetAllDomainStatsFlags.enforceStats, 2 ** 31)
  assert.equal(libvirt.MigrateParam.uri, 'migrate_uri')
})

test('calls that open a stream declare its direction', () => {
  const streams = procedures.filter((one) => one.stream !== undefined)
  assert.deepEqual(streams.map(({ name, stream }) => `${name} ${stream}`).sort(), [
    'domainMigratePrepareTunnel3 write',
    'domainMigratePrepareTunnel3Params write',
    'domainOpenChannel read',
    'domainOpenConsole read',
    'domainScreenshot read',
    'storageVolDownload read',
    'storageVolUpload write',
  ])
})

test('typed parameters are found by name, regardless of the integer type that the server chose', () => {
  const params = [
    libvirt.param.ullong('big', 2n ** 60n),
    libvirt.param.int('small', 3),
    libvirt.param.string('text', 'value'),
    libvirt.param.boolean('yes', true),
    libvirt.param.double('half', 0.5),
  ]
  assert.equal(libvirt.readCount(params, 'big'), 2n ** 60n)
  assert.equal(libvirt.readCount(params, 'small'), 3n)
  assert.equal(libvirt.readCount(params, 'half'), undefined)
  assert.equal(libvirt.readText(params, 'text'), 'value')
  assert.equal(libvirt.readText(params, 'big'), undefined)
  assert.equal(libvirt.readParam(params, 'yes'), true)
  assert.equal(libvirt.readParam(params, 'nothing'), undefined)
  assert.equal(libvirt.paramsToMap(params).size, 5)
})
