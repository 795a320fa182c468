import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { withReplacements, element, renderDocument, renderElement } from '@skerry/xml'

test('an element is rendered with its attributes and children in order', () => {
  const disk = element('disk', { type: 'file', index: 2, shared: true }, element('x'), 'text', 7)
  assert.equal(renderElement(disk), '<disk type="file" index="2" shared="true"><x/>text7</disk>')
})

test('a document begins with its declaration', () => {
  assert.equal(renderDocument(element('a')), '<?xml version="1.0" encoding="UTF-8"?>\n<a/>\n')
})

test('undefined and false are not written', () => {
  const built = element('a', { x: undefined, y: false }, undefined, false, '', 'b')
  assert.equal(renderElement(built), '<a y="false">b</a>')
})

test('adjacent texts are one text, as a parser sees them', () => {
  assert.deepEqual(element('a', {}, 'b', '', 'c', 1).children, ['bc1'])
})

test('markup characters in a text or a value are escaped', () => {
  assert.equal(
    renderElement(element('a', {}, `<&>"'\r\n\t`)),
    '<a>&lt;&amp;&gt;&quot;&apos;&#13;\n\t</a>',
  )
  assert.equal(
    renderElement(element('a', { b: `<&>"'\r\n\t` })),
    '<a b="&lt;&amp;&gt;&quot;&apos;&#13;&#10;&#9;"/>',
  )
})

const badNames = [
  '',
  ' ',
  '1a',
  '-a',
  '.a',
  'a b',
  'a>',
  'a/',
  'a"',
  'a=',
  ':a',
  'a:',
  'a:b:c',
  'a\n',
  '×',
  'a\u0000',
  '&a;',
  '!--',
  '?xml',
  '\uD800',
]

for (const name of badNames) {
  test(`the name ${JSON.stringify(name)} is a programming error`, () => {
    assert.throws(() => element(name), TypeError)
    assert.throws(() => element('a', { [name]: 'x' }), TypeError)
    assert.throws(() => renderElement({ name, attributes: {}, children: [] }), TypeError)
    assert.throws(
      () => renderElement({ name: 'a', attributes: { [name]: '' }, children: [] }),
      TypeError,
    )
  })
}

test('names of every script and with one prefix are valid', () => {
  for (const name of ['a', '_', 'qemu:commandline', 'été', '名前', 'a-1.b', '\u{10000}x']) {
    assert.equal(renderElement(element(name)), `<${name}/>`)
  }
})

test('a number that is not finite is a programming error', () => {
  assert.throws(() => element('a', {}, Number.NaN), TypeError)
  assert.throws(() => element('a', { b: Number.POSITIVE_INFINITY }), TypeError)
})

test('every character that XML cannot represent is rejected by its code point, and every other is accepted', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code)
    const carried =
      code === 9 ||
      code === 10 ||
      code === 13 ||
      (code >= 0x20 && (code < 0xd800 || code > 0xdfff) && code < 0xfffe)
    const render = () => renderElement(element('a', { b: character }, character))
    if (carried) render()
    else {
      const hex = code.toString(16).toUpperCase().padStart(4, '0')
      assert.throws(
        render,
        (error) =>
          error instanceof Fault && error.kind === 'invalid' && error.message.includes(`U+${hex}`),
      )
    }
  }
})

test('a lone surrogate beside a whole pair is rejected, the pair is accepted', () => {
  assert.equal(renderElement(element('a', {}, '\u{1F600}')), '<a>\u{1F600}</a>')
  assert.throws(
    () => renderElement(element('a', {}, '\u{1F600}\uDE00')),
    /the text of a contains the character U\+DE00/,
  )
  assert.throws(
    () => renderElement(element('a', { b: '\uD83D'.concat('\u{1F600}') })),
    /the attribute b of a contains the character U\+D83D/,
  )
})

test('characters that XML cannot represent are replaced where we repeat text of others', () => {
  assert.equal(withReplacements('a\u0000b\u0007c\uFFFEd\uD800e'), 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe')
  const fine = 'tab\t line\n é 😀 \uFFFD'
  assert.equal(withReplacements(fine), fine)
})
