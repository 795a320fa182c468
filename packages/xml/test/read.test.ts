import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import {
  attribute,
  child,
  children,
  childrenByLocalName,
  element,
  find,
  localName,
  readXml,
  text,
} from '@skerry/xml'

const domain = readXml(`<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<domain type='kvm' xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0">
  <name>one &amp; only</name>
  <devices>
    <disk device="disk"><target dev="vda"/></disk>
    <disk device="cdrom"><target dev="sda"/></disk>
  </devices>
  <?note this is left out?>
  <qemu:commandline><qemu:arg value="-s"/></qemu:commandline>
</domain>
`)

test('a path through a document is one expression', () => {
  assert.equal(attribute(domain, 'type'), 'kvm')
  assert.equal(text(child(domain, 'name')), 'one & only')
  assert.equal(attribute(find(domain, 'devices', 'disk', 'target'), 'dev'), 'vda')
  assert.deepEqual(
    children(child(domain, 'devices'), 'disk').map((disk) => attribute(disk, 'device')),
    ['disk', 'cdrom'],
  )
  assert.equal(find(domain), domain)
})

test('a missing path leads to undefined', () => {
  assert.equal(find(domain, 'devices', 'nothing', 'target'), undefined)
  assert.equal(attribute(find(domain, 'nothing'), 'type'), undefined)
  assert.equal(attribute(domain, 'toString'), undefined)
  assert.equal(text(child(domain, 'nothing')), undefined)
  assert.deepEqual(children(undefined), [])
})

test('names keep their prefixes and can be found without', () => {
  const [commandline] = childrenByLocalName(domain, 'commandline')
  assert.equal(commandline?.name, 'qemu:commandline')
  assert.equal(localName('qemu:arg'), 'arg')
  assert.equal(localName('arg'), 'arg')
})

test('text is that of the element itself', () => {
  assert.equal(text(readXml('<a>x<b>y</b>z</a>')), 'xz')
  assert.equal(text(readXml('<a/>')), '')
})

test('CDATA is text, and comments and instructions do not divide it', () => {
  const read = readXml('<a>1<![CDATA[<&]]]><!-- - --><?p q?>2<![CDATA[]]></a>')
  assert.deepEqual(read, element('a', {}, '1<&]2'))
})

test('line ends are normalised, and referenced characters are kept', () => {
  assert.deepEqual(
    readXml('<a b="1\r\n2\t3&#13;&#10;">\r\n\r&#13;\n</a>'),
    element('a', { b: '1 2 3\r\n' }, '\n\n\r\n'),
  )
})

test('white space is kept', () => {
  assert.deepEqual(readXml('<a> <b/>\n</a>'), element('a', {}, ' ', element('b'), '\n'))
})

test('a byte order mark and the declaration in all its forms are skipped', () => {
  const declarations = [
    `<?xml version="1.0"?>`,
    `<?xml version='1.0' encoding='utf-8' ?>`,
    `<?xml\tversion = "1.0"\nencoding="UTF-8"\r\nstandalone = 'yes'?>`,
    `\uFEFF<?xml version="1.0" standalone="no"?>\n`,
    '\uFEFF',
    '<?xml-stylesheet href="a"?>',
  ]
  for (const declaration of declarations) {
    assert.deepEqual(readXml(`${declaration}<a/>`), element('a'))
  }
})

test('attributes have no prototype, so that no attribute name is special', () => {
  const read = readXml('<a __proto__="1" constructor="2"/>')
  assert.equal(Object.getPrototypeOf(read.attributes), null)
  assert.deepEqual(Object.entries(read.attributes), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ])
})

test('an error has line and column', () => {
  const places: [string, string][] = [
    ['<a>\n  <b>\n</a>', 'line 3, column 3: expected </b>, not </a>'],
    ['<a>\r\n\r&nope;</a>', 'line 3, column 1: only &amp;'],
    ['<a b="1"\n   b="2"/>', 'line 2, column 4: b is given twice'],
    ['<a>\n', 'line 2, column 1: <a> is not closed'],
    ['<!DOCTYPE a><a/>', 'line 1, column 1: a DOCTYPE or another declaration is not accepted'],
    ['<a>\u0007</a>', 'line 1, column 4: XML cannot represent the character U+0007'],
    ['<a/>\n<b/>', 'line 2, column 1: nothing may follow the root element'],
  ]
  for (const [document, words] of places) {
    assert.throws(
      () => readXml(document),
      (error) =>
        error instanceof Fault && error.kind === 'invalid' && error.message.includes(words),
      document,
    )
  }
})

test('an error stays short regardless of the length of names', () => {
  const name = 'n'.repeat(100_000)
  assert.throws(
    () => readXml(`<${name}></m${name}>`),
    (error: Error) => error.message.length < 200,
  )
})

const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)

test('each limit can be reached and not exceeded', () => {
  readXml(nested(64))
  assert.throws(() => readXml(nested(65)), /64 deep/)
  assert.throws(() => readXml(`${'<a>'.repeat(64)}<a/>${'</a>'.repeat(64)}`), /64 deep/)

  readXml(`<r>${'<a/>'.repeat(9_999)}</r>`)
  assert.throws(() => readXml(`<r>${'<a/>'.repeat(10_000)}</r>`), /at most 10000 elements/)
  assert.throws(() => readXml(`<r>${'<a/>b'.repeat(5_000)}</r>`), /at most 10000 elements/)

  const attributes = (count: number) =>
    `<a ${Array.from({ length: count }, (_, index) => `x${index}=""`).join(' ')}/>`
  readXml(attributes(256))
  assert.throws(() => readXml(attributes(257)), /at most 256 attributes/)

  const sized = (bytes: number) => `<a>${'é'.repeat((bytes - 7) / 2)}</a>`
  readXml(sized(1_048_575))
  assert.throws(() => readXml(sized(1_048_577)), /larger than 1048576 bytes/)
})

test('each limit can be set', () => {
  assert.throws(() => readXml('<a><b/></a>', { depthMax: 1 }), /1 deep/)
  assert.throws(() => readXml('<a><b/></a>', { nodesMax: 1 }), /at most 1 elements/)
  assert.throws(() => readXml('<a b="" c=""/>', { attributesMax: 1 }), /at most 1 attributes/)
  assert.throws(() => readXml('<a/>', { bytesMax: 3 }), /larger than 3 bytes/)
  const depth = 200_000
  readXml(nested(depth), { bytesMax: 10_000_000, depthMax: depth, nodesMax: depth })
})
