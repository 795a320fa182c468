import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { readXml, renderDocument, renderElement, type Element } from '@skerry/xml'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { arbitraryElement, injure } from './arbitrary.ts'
import { askExpat } from './expat.ts'

const BEYOND_ASCII = ['\u{1F600}', '\u{10FFFF}', '\uE000']

test('a built, rendered and parsed document is the same, for any text', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 3_000; round += 1) {
    const built = arbitraryElement(random, BEYOND_ASCII)
    assert.deepEqual(readXml(renderDocument(built)), built)
  }
})

test('a parsed document is rendered to the same again', () => {
  const random = seededRandom(2)
  for (let round = 0; round < 500; round += 1) {
    const read = readXml(renderElement(arbitraryElement(random, BEYOND_ASCII)))
    assert.equal(renderElement(readXml(renderElement(read))), renderElement(read))
  }
})

test('20,000 mutated documents are parsed or rejected, and nothing else happens', () => {
  const random = seededRandom(3)
  const count = { read: 0, refused: 0 }
  for (let round = 0; round < 20_000; round += 1) {
    const document = injure(random, renderDocument(arbitraryElement(random, BEYOND_ASCII, 2)))
    try {
      readXml(document)
      count.read += 1
    } catch (error) {
      assert(error instanceof Fault && error.kind === 'invalid', document)
      count.refused += 1
    }
  }
  assert(count.read > 1_000 && count.refused > 1_000, JSON.stringify(count))
})

// Method: the mutations are restricted to what both parsers must judge alike. Expat follows an older edition of XML for name
// characters, so no character is beyond the first plane; and it accepts more colons in a name and more versions than we do, so
// there are neither.
test('expat accepts and rejects the same documents, and parses them to the same content', async (t) => {
  const random = seededRandom(4)
  const documents: string[] = []
  for (let round = 0; round < 500; round += 1) {
    documents.push(renderDocument(arbitraryElement(random, BEYOND_ASCII)))
  }
  for (let round = 0; round < 4_000; round += 1) {
    const whole = renderElement(arbitraryElement(random, [], 2)).replaceAll(':', '-')
    documents.push(injure(random, whole))
  }
  const answers = await askExpat(documents)
  if (answers === undefined) return t.skip('needs python3: npm run setup')

  assert.equal(answers.length, documents.length)
  const count = { read: 0, refused: 0 }
  for (const [index, document] of documents.entries()) {
    const ours = readOrUndefined(document)
    assert.deepEqual(plain(ours), answers[index], JSON.stringify(document))
    count[ours === undefined ? 'refused' : 'read'] += 1
  }
  assert(count.read > 700 && count.refused > 700, JSON.stringify(count))
})

function readOrUndefined(document: string): Element | undefined {
  try {
    return readXml(document)
  } catch (error) {
    assert(error instanceof Fault)
    return undefined
  }
}

function plain(from: Element | undefined): unknown {
  return from === undefined ? null : JSON.parse(JSON.stringify(from))
}
