// Goal: a document is the same in XML and in JSON, whatever it contains, and a text that is not such a document is rejected by name.
// Method: a small schema with every construct that shapes understand; documents written by hand, and strings of all kinds.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import {
  fromJson,
  isObjectShape,
  jsonSchemas,
  keysOf,
  readJson,
  readXml,
  renderElement,
  shapesOf,
  toJson,
} from '../src/index.ts'

const MAIN = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:o="urn:other" targetNamespace="urn:main">
  <xs:import namespace="urn:other" schemaLocation="other.xsd"/>
  <xs:annotation><xs:documentation>All of it.</xs:documentation></xs:annotation>
  <xs:simpleType name="Colour"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="blue"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="Media"><xs:restriction base="xs:string"><xs:pattern value="application/[a-z.]+\\+xml"/></xs:restriction></xs:simpleType>
  <xs:simpleType name="Percent"><xs:restriction base="xs:int"><xs:minInclusive value="0"/><xs:maxInclusive value="100"/></xs:restriction></xs:simpleType>
  <xs:complexType name="BoxType">
    <xs:annotation><xs:documentation>May hold
      others.</xs:documentation></xs:annotation>
    <xs:sequence>
      <xs:element ref="Box" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="Label" minOccurs="0"><xs:complexType><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="lang" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
      <xs:choice><xs:element name="MACAddress" type="xs:string"/><xs:element name="Thing" type="ThingType"/></xs:choice>
      <xs:element ref="o:Weight" minOccurs="0"/>
    </xs:sequence>
    <xs:attribute name="type" type="Media"/>
    <xs:attribute name="count" type="xs:long" use="required"/>
    <xs:attribute name="full" type="Percent"/>
    <xs:attribute name="open" type="xs:boolean"/>
    <xs:attribute name="colour" type="Colour"/>
    <xs:attribute ref="o:mark"/>
  </xs:complexType>
  <xs:element name="Box" type="BoxType"/>
  <xs:complexType name="ThingType" abstract="true"/>
  <xs:complexType name="TextThing"><xs:complexContent><xs:extension base="ThingType"><xs:sequence><xs:element name="Value" type="xs:string"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="NumberThing"><xs:complexContent><xs:extension base="ThingType"><xs:sequence><xs:element name="Value" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:element name="BigBox"><xs:complexType><xs:complexContent><xs:extension base="BoxType"><xs:attribute name="size" type="xs:int"/></xs:extension></xs:complexContent></xs:complexType></xs:element>
  <xs:element name="Row"><xs:complexType><xs:sequence><xs:element name="Cell" type="xs:int" nillable="true" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="BoxParams"><xs:complexType><xs:sequence><xs:element name="Source" type="BoxType"/></xs:sequence><xs:attribute name="name" type="xs:string" use="required"/></xs:complexType></xs:element>
</xs:schema>`
const OTHER = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:other" targetNamespace="urn:other">
  <xs:attribute name="mark" type="xs:boolean"/>
  <xs:element name="Weight" type="xs:int"/>
</xs:schema>`

const shapes = shapesOf([MAIN, OTHER])
const box = shapes.get('Box') ?? assert.fail()

const jsonOf = (xml: string): unknown => {
  const root = readXml(xml)
  return JSON.parse(JSON.stringify(toJson(root, shapes.get(root.name) ?? assert.fail(root.name))))
}
const xmlOf = (json: string, name = 'Box'): string =>
  renderElement(fromJson(name, shapes.get(name) ?? assert.fail(name), readJson(json)))

const WHOLE =
  '<Box type="application/x.box+xml" count="-5" full="7" open="true" colour="red" o:mark="false">' +
  '<Box count="0"/><Box count="1"><MACAddress>a b </MACAddress></Box>' +
  '<Label lang="en"> &lt;x&gt; </Label><Thing xsi:type="NumberThing"><Value>4</Value></Thing><o:Weight>9</o:Weight></Box>'

test('attributes, children, lists, text, variants and prefixes have the keys of the mapping', () => {
  assert.deepEqual(jsonOf(WHOLE), {
    type: 'application/x.box+json',
    count: -5,
    full: 7,
    open: true,
    colour: 'red',
    mark: false,
    box: [
      { count: 0, box: [] },
      { count: 1, box: [], macAddress: 'a b ' },
    ],
    label: { lang: 'en', value: ' <x> ' },
    thing: { kind: 'NumberThing', value: 4 },
    weight: 9,
  })
  assert.equal(xmlOf(JSON.stringify(jsonOf(WHOLE))), WHOLE)
})

test('an element without a value is null', () => {
  const row = '<Row><Cell>1</Cell><Cell xsi:nil="true"/><Cell>0</Cell></Row>'
  assert.deepEqual(jsonOf(row), { cell: [1, null, 0] })
  assert.equal(xmlOf('{"cell":[1,null,0]}', 'Row'), row)
  const { schemas } = jsonSchemas(shapes, { answered: ['Row'], taken: [] })
  const { properties } = schemas['Row'] as { properties: { cell: { items: { type: unknown } } } }
  assert.deepEqual(properties.cell.items.type, ['integer', 'null'])
  assert.throws(() => xmlOf('{"cell":[1,null,"0"]}', 'Row'), /cell\[2\] must be an integer/)
})

test('any text that XML can represent survives both directions', () => {
  const texts = ['', ' ', '\n\t', '"\\', '__proto__', '<&>]]>', 'ä😀\u{10ffff}', 'a'.repeat(70_000)]
  for (const text of texts) {
    const given = { count: 1, box: [], label: { value: text }, macAddress: text }
    assert.deepEqual(jsonOf(xmlOf(JSON.stringify(given))), given, JSON.stringify(text.slice(0, 20)))
  }
})

test('integers keep all their digits', () => {
  for (const count of [
    '0',
    '-1',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
  ]) {
    assert.equal(xmlOf(`{"count":${count}}`), `<Box count="${count}"/>`)
    const written = JSON.stringify(toJson(readXml(`<Box count="${count}"/>`), box))
    assert.equal(written, `{"count":${count},"box":[]}`)
  }
})

test('what is not such a document is rejected with its place and what is expected there', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /is not JSON/],
    ['{"count":1', /is not JSON/],
    ['{"count":01}', /is not JSON/],
    ['{"count":Infinity}', /is not JSON/],
    ["{'count':1}", /is not JSON/],
    ['{"count":1}{"count":1}', /is not JSON/],
    ['[{"count":1}]', /^\$ must be an object, not an array/],
    ['true', /^\$ must be an object, not a boolean/],
    ['{"count":null}', /^\$\.count must be an integer, not null; leave the key out/],
    ['{"count":"1"}', /^\$\.count must be an integer, not a string/],
    ['{"count":0.5}', /^\$\.count must be an integer, not a number/],
    ['{"count":1e999}', /^\$\.count must be an integer/],
    [
      '{"count":9223372036854775808}',
      /^\$\.count must be an integer from -9223372036854775808 to 9223372036854775807/,
    ],
    ['{"full":101}', /^\$\.full must be an integer from 0 to 100/],
    ['{"open":1}', /^\$\.open must be true or false, not a number/],
    ['{"colour":"green"}', /^\$\.colour must be one of red, blue/],
    ['{"label":"x"}', /^\$\.label must be an object, not a string/],
    ['{"box":{}}', /^\$\.box must be an array, not an object/],
    ['{"box":[{},{"x":1}]}', /^\$\.box\[1\] has no key "x"; its keys are: type, count/],
    ['{"Box":[]}', /^\$ has no key "Box"/],
    ['{"thing":{"value":1}}', /^\$\.thing\.kind must be one of TextThing, NumberThing/],
    ['{"thing":{"kind":"TextThing","value":1}}', /^\$\.thing\.value must be a string/],
    ['{"label":{"value":"\\u000b"}}', /^\$\.label\.value contains U\+000B/],
    ['{"label":{"value":"\\udc00x"}}', /^\$\.label\.value contains U\+DC00/],
    ['{"toString":1}', /^\$ has no key "toString"/],
    ['{"__proto__":{"count":1}}', /^\$ has no key "__proto__"/],
    ['{"label":{"value":"a","lang":"b","value":"c"}}', /has the key "value" twice/],
    ['{"a\\u0062":1,"ab":2}', /has the key "ab" twice/],
    [`{"${'k'.repeat(5000)}":1}`, /^\$ has no key "k{64}…"/],
    [`{"count":${'['.repeat(1_000_000)}`, /nested more than 64 deep/],
    ['{"a":'.repeat(200_000), /nested more than 64 deep/],
    [`{"box":[${'{"box":['.repeat(40)}${']}'.repeat(40)}]}`, /nested more than 64 deep/],
    [`"${'\\"'.repeat(500_000)}`, /is not JSON/],
  ]
  for (const [json, message] of cases) {
    const began = performance.now()
    const isFault = (error: unknown): boolean => {
      assert.ok(error instanceof Fault, `${json.slice(0, 80)}: ${String(error)}`)
      assert.equal(error.kind, 'invalid')
      assert.match([error.message, error.hint].filter(Boolean).join('; '), message)
      return true
    }
    assert.throws(() => xmlOf(json), isFault)
    assert.ok(performance.now() - began < 2000, `${json.slice(0, 80)} took too long`)
  }
  assert.equal(({} as { count?: unknown }).count, undefined)
})

test('equal keys of different objects, and of objects in an array, are no duplicates', () => {
  const json = '{"count":1,"box":[{"count":1},{"count":1}],"label":{"value":"{\\"count\\":1,"}}'
  assert.equal(
    xmlOf(json),
    '<Box count="1"><Box count="1"/><Box count="1"/><Label>{&quot;count&quot;:1,</Label></Box>',
  )
})

test('a type extends another, and may contain itself', () => {
  const big = shapes.get('BigBox') ?? assert.fail()
  assert.ok(isObjectShape(big) && isObjectShape(box))
  assert.deepEqual(keysOf(big), [...keysOf(box).slice(0, 6), 'size', ...keysOf(box).slice(6)])
  assert.equal(box.children[0]?.type, box)
})

test('JSON Schemas: lists are in every response; a request may contain a part of a document', () => {
  const named = jsonSchemas(shapes, { answered: ['Box'], taken: ['BoxParams'] })
  assert.deepEqual(named.answer('Box'), { $ref: '#/components/schemas/Box' })
  assert.deepEqual(
    Object.keys(named.schemas),
    [
      'Box',
      'BoxInput',
      'BoxLabel',
      'BoxLabelInput',
      'BoxParams',
      'NumberThing',
      'NumberThingInput',
      'TextThing',
      'TextThingInput',
      'ThingType',
      'ThingTypeInput',
    ]
      .map((name) => name.replace('ThingType', 'Thing'))
      .toSorted(),
  )
  const schemas = named.schemas as Readonly<
    Record<string, { required?: string[]; properties: object }>
  >
  assert.deepEqual(schemas['Box']?.required, ['count', 'box'])
  assert.equal(schemas['BoxInput']?.required, undefined)
  assert.deepEqual(schemas['BoxParams']?.required, ['name', 'source'])
  const { type, count, full } = (schemas['Box'] ?? assert.fail()).properties as Record<
    string,
    object
  >
  assert.deepEqual(type, { type: 'string', pattern: '^(?:application/[a-z.]+\\+json)$' })
  assert.deepEqual(count, { type: 'integer', format: 'int64' })
  assert.deepEqual(full, { type: 'integer', format: 'int32', minimum: 0, maximum: 100 })
  assert.throws(() => jsonSchemas(shapes, { answered: ['Nothing'], taken: [] }), TypeError)
})

test('a schema with an unknown construct, or with two members of one key, is rejected', () => {
  const schemaOf = (inside: string) =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${inside}</xs:schema>`
  const wrong = [
    '<xs:group name="x"/>',
    '<xs:element name="A"><xs:complexType><xs:sequence><xs:any/></xs:sequence></xs:complexType></xs:element>',
    '<xs:element name="A" type="Nothing"/>',
    '<xs:element name="A"><xs:complexType><xs:sequence><xs:element name="Name" type="xs:string"/></xs:sequence><xs:attribute name="name" type="xs:string"/></xs:complexType></xs:element>',
  ]
  for (const inside of wrong) assert.throws(() => shapesOf([schemaOf(inside)]), TypeError, inside)
})
