// Goal: a strong engineer reads any file, page and message without a glossary. Method: words that hid a field's term are searched in
// product code and docs, and in titles and comments of tests; exported types are counted by name.
// If you are here because this failed: the message names the word and what to write instead.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** A word that may not come back, and what to write instead. */
const instead: readonly (readonly [RegExp, string])[] = [
  [/\bunless told\b/i, '"default: X"'],
  [/\b(told|tells?|telling)\b/i, 'return, log, print, emit, report'],
  [/\basker(s|'s)?\b/i, 'the caller'],
  [/\b(whoever|nobody)\b/i, 'the user, the caller, no one'],
  [/\banew\b/i, 'again, from scratch'],
  [/\b(amiss|mend(s|ed|ing)?)\b/i, 'wrong; fix, repair'],
  [/\b(is no more|it is not said)\b/i, 'does not exist; is missing'],
  [/\b(he|his|him|she|hers?)\b/i, 'the user; they'],
  [/\b(debts?|strays?|lends?)\b/i, 'pending undo; orphan; hold'],
  [/\b(RequestWorld|StepWorld)\b/, 'RequestContext, WorkerContext'],
  [/\baccess tokens?\b/i, 'API token'],
  [/\b(walls?|walled|wallOf)\b(?! clock|-clock)/i, 'firewall; row level security'],
  [/\b(house|doors?|bells?|paid)\b/i, 'the task; listener; signal; undone'],
]

/** A name of a type or of a function that says nothing, and so may not be declared. A type is a noun that says what it holds. */
const emptyNames =
  /^(?:export )?(?:(?:interface|type|class) (?:Asked|Told|Shown|Said|Given|Laid|Held|Looked|Came|Found|Way|Wishes|Doors?)\b|(?:async )?function (?:said|look|say|tell|at|given|shown|asked|told)\b|const (?:said|look|say|tell|given|shown|asked|told) = (?:async )?\(.*)/gm

const read = (file: string) => ({ file, text: readFileSync(join(root, file), 'utf8') })
const product = globSync(
  ['{apps,packages}/*/src/**/*.{ts,tsx,js,html,css}', '{apps,packages}/*/migrations/*.sql'],
  { cwd: root },
).map(read)
const pages = globSync(['*.md', 'docs/**/*.md', '{apps,packages,tools}/*/README.md'], {
  cwd: root,
}).map(read)

const tests = globSync('{tests,{apps,packages,tools}/*/test}/**/*.ts', { cwd: root }).map(read)

/** Comments and titles of a test file. Names and strings are left out: many are compared with the wire. */
const spoken =
  /^\s*(?:\/\/|\/?\*).*|\s\/\/ .*|\b(?:test|describe|it)\(\s*(['"`])(?:\\.|(?!\1)[^\\])*\1/gm

/** Every forbidden word in the text, which begins at this line of the file. */
const wrongWords = (file: string, text: string, first = 1): string[] =>
  text.split('\n').flatMap((line, index) => {
    return instead
      .filter(([word]) => word.test(line))
      .map(
        ([word, better]) => `${file}:${first + index}: "${word.exec(line)?.[0]}"; write ${better}`,
      )
  })

test('words of our own do not come back', () => {
  const found = [...product, ...pages].flatMap(({ file, text }) => wrongWords(file, text))
  assert.deepEqual(found, [])
})

test('words of our own do not come back in titles and comments of tests', () => {
  let seen = 0
  const found = tests.flatMap(({ file, text }) =>
    [...text.matchAll(spoken)].flatMap(({ 0: part, index }) => {
      seen += 1
      return wrongWords(file, part, text.slice(0, index).split('\n').length)
    }),
  )
  assert.deepEqual(found, [])
  assert.ok(seen > 3000, `${seen} titles and comments`)
})

test('a declared name says what it does or holds', () => {
  const found = product.flatMap(({ file, text }) =>
    [...text.matchAll(emptyNames)].map(([line]) => `${file}: ${line}`),
  )
  assert.deepEqual(found, [])
})

test('an exported type has a name of its own in the whole repository', () => {
  const exported = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm
  const files = new Map<string, string[]>()
  for (const { file, text } of product) {
    for (const [, name = ''] of text.matchAll(exported)) {
      files.set(name, [...new Set([...(files.get(name) ?? []), file])])
    }
  }
  const twice = [...files].filter(([, declared]) => declared.length > 1)
  assert.deepEqual(Object.fromEntries(twice), {})
})
