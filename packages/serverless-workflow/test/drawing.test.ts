import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attribute, children, find, readXml, text, type Element } from '@skerry/xml'

import { drawWorkflow } from '../src/drawing/draw.ts'
import { marksOf, type Marks } from '../src/drawing/marks.ts'
import { parseDefinition } from '../src/parse/parse.ts'
import { functions, head, supported } from './subset-examples.ts'

const draw = (yaml: string, marks?: Marks): Element => {
  const parsed = parseDefinition(yaml, functions)
  assert.ok('definition' in parsed, JSON.stringify(parsed))
  return readXml(drawWorkflow(parsed.definition, marks))
}

interface Seen {
  readonly place: string
  readonly classes: readonly string[]
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}
/** Every step of the drawing with the position of its box. */
const steps = (element: Element): Seen[] =>
  element.children.flatMap((inner) => {
    if (typeof inner === 'string') return []
    const place = attribute(inner, 'data-place')
    if (place === undefined) return steps(inner)
    const rect = children(inner, 'rect')[0]!
    const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) =>
      Number(attribute(rect, name)),
    )
    const classes = attribute(inner, 'class')?.split(' ') ?? []
    return [
      { place, classes, left: x!, top: y!, right: x! + width!, bottom: y! + height! },
      ...steps(inner),
    ]
  })

/** Boxes are nested exactly as the tasks are, never overlap, and stay within the picture. */
function checkPlaces(svg: Element): void {
  const all = steps(svg)
  const [width, height] = [Number(attribute(svg, 'width')), Number(attribute(svg, 'height'))]
  for (const a of all) {
    assert.ok(
      a.left >= 0 && a.top >= 0 && a.right <= width && a.bottom <= height,
      `${a.place} is outside`,
    )
    for (const b of all) {
      if (a === b || b.place.startsWith(`${a.place}/`)) continue
      const inner = a.place.startsWith(`${b.place}/`)
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
      const within = a.left > b.left && a.right < b.right && a.top > b.top && a.bottom < b.bottom
      assert.ok(inner ? within : apart, `${a.place} and ${b.place}`)
    }
  }
}

for (const { name, example } of supported)
  test(`${name} is drawn with correctly placed boxes`, () => {
    checkPlaces(draw(head() + example))
  })

const big = `${head()}do:
  - choose:
      switch:
        - one: { when: '.a == 1', then: both }
        - two: { when: '.a == 2', then: end }
        - other: { then: choose2 }
  - both:
      fork:
        branches:
          - left: { do: [ { a: { wait: PT1S } }, { b: { wait: PT1S } } ] }
          - right: { for: { in: .list }, while: .a, do: [ { c: { call: skerry.vm.powerOn } }, { d: { wait: PT1S, then: exit } } ] }
  - choose2: { set: { a: 1 }, then: choose }
  - carefully:
      try: [ { x: { call: skerry.vm.powerOn } }, { y: { wait: PT1S, then: x } } ]
      catch: { as: problem, retry: { delay: PT1S }, do: [ { z: { set: { a: 1 } } } ] }
`

test('all constructs together are drawn with correctly placed boxes', () => {
  const svg = draw(big)
  checkPlaces(svg)
  assert.equal(steps(svg).length, 13)
})

test('a case to the next box goes straight down; other arrows pass the boxes without overlap', () => {
  const svg = draw(`${head()}do:
  - choose:
      switch:
        - next: { when: .a, then: first }
        - far: { when: .b, then: third }
        - farther: { then: fourth }
  - first: { wait: PT1S }
  - second: { wait: PT1S }
  - third: { wait: PT1S, then: first }
  - fourth: { wait: PT1S }
`)
  const ways = children(svg, 'path').flatMap((each) => {
    const way = /^M[\d.]+ [\d.]+H[\d.]+Q([\d.]+) /.exec(attribute(each, 'd') ?? '')
    return way === null ? [] : [Number(way[1])]
  })
  assert.equal(ways.length, 3)
  const [a = 0, b = 0, c = 0] = ways.toSorted((one, other) => one - other)
  assert.ok(b - a >= 14 && c - b >= 14, ways.join())
  checkPlaces(svg)
})

test('steps are marked with their state in a run', () => {
  const marks = marksOf([
    { place: '/do/0/choose', what: 'began' },
    { place: '/do/0/choose', what: 'ended' },
    { place: '/do/1/both', what: 'began' },
    { place: '/do/1/both/fork/branches/0/left', what: 'began' },
    { place: '/do/1/both/fork/branches/0/left/do/0/a', what: 'failed' },
    { place: '/do/2/choose2', what: 'skipped' },
    { place: '/do/3/carefully', what: 'canceled' },
  ])
  const svg = draw(big, marks)
  const marked = steps(svg).filter(({ classes }) => classes.length > 1)
  assert.deepEqual(
    marked.map(({ place, classes }) => [place, classes[1]]),
    [
      ['/do/0/choose', 'done'],
      ['/do/1/both', 'running'],
      ['/do/1/both/fork/branches/0/left', 'running'],
      ['/do/1/both/fork/branches/0/left/do/0/a', 'failed'],
      ['/do/2/choose2', 'skipped'],
      ['/do/3/carefully', 'canceled'],
    ],
  )
})

test('a drawing has an equivalent text description', () => {
  const svg = draw(big, new Map([['/do/0/choose', 'done']]))
  assert.equal(attribute(svg, 'role'), 'img')
  assert.equal(attribute(svg, 'aria-labelledby'), 'title desc')
  assert.equal(text(find(svg, 'title')), 'example')
  const words = (text(find(svg, 'desc')) ?? '').split('\n')
  assert.equal(words[0], '13 steps.')
  assert.equal(words[1], '1. choose: switch, done.')
  assert.equal(words[5], '5. b: wait PT1S.')
})

test('a drawing has its own colours for light and dark mode', () => {
  assert.match(text(find(draw(big), 'style')) ?? '', /prefers-color-scheme: dark/)
})

test('untrusted names are escaped as text', () => {
  const nasty = '</text><script>alert(1)</script>'
  const svg = draw(`${head()}do:\n  - ${JSON.stringify(nasty)}:\n      wait: PT1S\n`)
  assert.equal(find(svg, 'script'), undefined)
  assert.ok(JSON.stringify(svg).includes('alert(1)'))
})

test('a thousand tasks are drawn in a second', () => {
  const tasks = Array.from(
    { length: 990 },
    (_, index) => `  - t${index}: { wait: PT1S, then: t${(index * 7) % 990} }\n`,
  )
  const parsed = parseDefinition(`${head()}do:\n${tasks.join('')}`, functions)
  assert.ok('definition' in parsed)
  const start = process.cpuUsage()
  drawWorkflow(parsed.definition)
  const { user } = process.cpuUsage(start)
  assert.ok(user < 1e6, `${user} µs`)
})

test('a workflow without tasks is drawn too', () => {
  checkPlaces(draw(`${head()}do: []\n`))
})
