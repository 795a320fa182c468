// Goal: reject every archive that two readers could interpret differently, that points outside of itself, or that is a zip bomb;
// memory stays bounded. Method: 200 archives from a table, each one change away from a valid one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'

import { head } from '../../../packages/serverless-workflow/test/subset-examples.ts'
import { digestOf } from '../src/archive/manifest.ts'
import { readArchive } from '../src/archive/read.ts'
import { link, makeZip, type MadeArchive, type MadeEntry } from './zip-maker.ts'

const text = `${head()}do: []\n`
const manifestFor = (content: string | Buffer, more: object = {}): string =>
  JSON.stringify({
    format: 1,
    id: 'a',
    name: 'A',
    description: '',
    folder: 'F',
    version: '1.0.0',
    tags: [],
    entries: { 'workflow.yaml': digestOf(content) },
    ...more,
  })
const workflow: MadeEntry = { name: 'workflow.yaml', content: text }
const manifest: MadeEntry = { name: 'manifest.json', content: manifestFor(text) }

type Hostile = readonly [name: string, bytes: Buffer]
/** The valid archive with one more entry. */
const beside = (entry: MadeEntry): Buffer => makeZip([workflow, manifest, entry])
/** With its definition packed differently. */
const packed = (change: Partial<MadeEntry>): Buffer =>
  makeZip([{ ...workflow, ...change }, manifest])
const framed = (how: MadeArchive): Buffer => makeZip([workflow, manifest], how)
/** With another definition and its correct digest. */
const holding = (content: string | Buffer, change: Partial<MadeEntry> = {}): Buffer =>
  makeZip([
    { ...workflow, content, ...change },
    { ...manifest, content: manifestFor(content) },
  ])
const withManifest = (content: string | Buffer): Buffer =>
  makeZip([workflow, { ...manifest, content }])
const extra = (id: number, length = 4): Buffer => {
  const field = Buffer.alloc(4 + length)
  field.writeUInt16LE(id, 0)
  field.writeUInt16LE(length, 2)
  return field
}
const good = makeZip([workflow, manifest])

const names = [
  '../x',
  '..\\x',
  '../../../../etc/passwd',
  'a/../../b',
  'a\\..\\..\\b',
  '..',
  '.',
  '',
  '/',
  '\\',
  '/etc/passwd',
  '\\windows\\x',
  'C:\\x',
  'C:x',
  'c:/x',
  '//host/share',
  '\\\\host\\share\\x',
  './workflow.yaml',
  'workflow.yaml/',
  'workflow.yaml/.',
  'sub/workflow.yaml',
  'manifest.json/../workflow.yaml',
  'workflow.yaml\u0000',
  'workflow.yaml\u0000.txt',
  'workflow.yaml ',
  ' workflow.yaml',
  'workflow.yaml.',
  'WORKFLOW.YAML',
  'Workflow.yaml',
  'workflow.yml',
  'workflow.yаml',
  'ｗorkflow.yaml',
  'workflow.yaml\u200b',
  'workflow.yaml:stream',
  'workflow.yaml::$DATA',
  'CON',
  'nul',
  'aux.txt',
  '~/.ssh/authorized_keys',
  '.htaccess',
  'a\r\nb',
  '\u202Elmay.wolfkrow',
  '\u001b[31m',
  '__proto__',
  'constructor',
  'a'.repeat(60_000),
  'a/'.repeat(20_000),
]
const slips: Hostile[] = names.map((name) => [
  `the name ${JSON.stringify(name.slice(0, 40))}`,
  beside({ name, content: 'x' }),
])
const encodings: Hostile[] = [
  ['a name in UTF-16', beside({ name: Buffer.from('input-form.json', 'utf16le'), content: '{}' })],
  [
    '.. in overlong UTF-8',
    beside({ name: Buffer.from([0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x78]), content: 'x' }),
  ],
  ['a name that is not UTF-8', beside({ name: Buffer.from([0xff, 0xfe, 0x80]), content: 'x' })],
  ['a definition in UTF-16, little endian', holding(Buffer.from(`\uFEFF${text}`, 'utf16le'))],
  ['a definition in UTF-16, big endian', holding(Buffer.from(`\uFEFF${text}`, 'utf16le').swap16())],
  ['a definition in Latin-1', holding(Buffer.from(`# Grüße\n${text}`, 'latin1'))],
  ['a definition with a lone surrogate', holding(Buffer.from([0xed, 0xa0, 0x80]))],
  ['a definition in overlong UTF-8', holding(Buffer.from([0xc0, 0xaf]))],
  ['a manifest in UTF-16', withManifest(Buffer.from(manifestFor(text), 'utf16le'))],
  ['a manifest after a byte order mark', withManifest(`\uFEFF${manifestFor(text)}`)],
]

const zeros = Buffer.alloc(256 * 1024)
const bombs: Hostile[] = [
  ['256 KiB of zeros in 300 bytes', holding(zeros, { method: 8 })],
  [
    '10 MiB declared as 100 bytes',
    packed({ method: 8, content: 'x'.repeat(100), data: deflateRawSync(Buffer.alloc(10_000_000)) }),
  ],
  [
    '100 MiB declared as 200 KiB',
    packed({
      method: 8,
      content: 'x'.repeat(200_000),
      data: deflateRawSync(Buffer.alloc(100_000_000)),
    }),
  ],
  [
    '100 MiB declared as such',
    packed({
      method: 8,
      data: deflateRawSync(Buffer.alloc(100_000_000)),
      both: { size: 100_000_000 },
    }),
  ],
  ['a definition of 257 KiB', holding('a'.repeat(257 * 1024))],
  ['a manifest of 65 KiB', withManifest(manifestFor(text, { description: 'a'.repeat(65 * 1024) }))],
  ['an archive of 2 MiB', framed({ gap: Buffer.alloc(2 * 1024 * 1024) })],
  ['two entries of the same data', framed({ sameOffset: true })],
  ['a manifest of 30,000 nested lists', withManifest('['.repeat(30_000) + ']'.repeat(30_000))],
]

const amounts = [0, 1, -1, 2, 1000, 0x7fffffff, 0xfffffffe, 0xffffffff]
const lies: Hostile[] = ([0, 8] as const).flatMap((method) =>
  (['central', 'local', 'both'] as const).flatMap((where) =>
    (['size', 'packed'] as const).flatMap((what) =>
      amounts.map((amount): Hostile => {
        const real =
          what === 'size' || method === 0 ? text.length : deflateRawSync(Buffer.from(text)).length
        const said = amount === 0 ? 0 : Math.abs(amount) <= 2 ? real + amount : amount
        return [
          `${what} declared as ${said} in ${where}, method ${method}`,
          packed({ method, [where]: { [what]: said } }),
        ]
      }),
    ),
  ),
)
const sums: Hostile[] = (['central', 'local', 'both'] as const).map((where) => [
  `another checksum in ${where}`,
  packed({ [where]: { crc32: 1 } }),
])

const twice: Hostile[] = [
  ['the definition twice', beside(workflow)],
  [
    'the definition twice, with different content',
    beside({ ...workflow, content: `${text}# other` }),
  ],
  ['the manifest twice', beside(manifest)],
  ['only manifests', makeZip([manifest, manifest])],
  ['another name in the local header', packed({ local: { name: 'manifest.json' } })],
  ['.. in the local header only', packed({ local: { name: '../work.yaml' } })],
]

const kinds: Hostile[] = [
  ...[3, 0, 19, 7].map((system): Hostile => [
    `a symbolic link, made by ${system}`,
    packed({ system, attributes: link }),
  ]),
  ...[0o040755, 0o020666, 0o060666, 0o010644, 0o140755, 0o160000].map((mode): Hostile => [
    `mode ${mode.toString(8)}`,
    packed({ attributes: mode * 0x10000 }),
  ]),
  ['a DOS directory', packed({ system: 0, attributes: 0x10 })],
  ['a volume label', packed({ system: 0, attributes: 0x08 })],
  ['a link to /etc/passwd', holding('/etc/passwd', { attributes: link })],
]

const sealed: Hostile[] = [
  ...[0, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15].map((bit): Hostile => [
    `flag bit ${bit}`,
    packed({ flags: 1 << bit }),
  ]),
  ['flags that differ', packed({ local: { flags: 0x0801 } })],
  ...[1, 2, 3, 6, 9, 10, 12, 14, 93, 95, 97, 98, 99, 0xffff].map((method): Hostile => [
    `method ${method}`,
    packed({ method }),
  ]),
  ['methods that differ', packed({ local: { method: 8 } })],
  ...[0x9901, 0x0017, 0x0001, 0x7075, 0x6375].flatMap((id): Hostile[] => [
    [`extra field ${id.toString(16)} in the directory`, packed({ extra: extra(id, 8) })],
    [`extra field ${id.toString(16)} before the data`, packed({ localExtra: extra(id, 8) })],
  ]),
  ['a truncated extra field', packed({ extra: Buffer.from([1, 2, 255, 255, 0]) })],
  ['an extra field of 3 bytes', packed({ localExtra: Buffer.from([1, 2, 3]) })],
]

const frames: Hostile[] = [
  ['a program before it', framed({ prefix: Buffer.from('#!/bin/sh\nexit\n') })],
  ['another archive before it', framed({ prefix: good })],
  ['data after it', framed({ suffix: Buffer.from('x') })],
  ['another archive after it', framed({ suffix: good })],
  ['a comment', framed({ comment: Buffer.from('hello') })],
  ['an archive in the comment', framed({ comment: good })],
  ['a missing comment', framed({ end: { commentLength: 5 } })],
  ['an end record in the comment', framed({ comment: good.subarray(-22) })],
  ['a comment of an entry', packed({ comment: 'hello' })],
  ['data between entries and directory', framed({ gap: Buffer.from('hidden') })],
  ['data between directory and end', framed({ beforeEnd: Buffer.from('hidden') })],
  [
    'a zip64 locator',
    framed({ beforeEnd: Buffer.concat([Buffer.from('PK\u0006\u0007'), Buffer.alloc(16)]) }),
  ],
  ...[0, 1, 3, 0xfffe, 0xffff].map((count): Hostile => [
    `${count} declared entries`,
    framed({ end: { count, here: count } }),
  ]),
  ['two counts', framed({ end: { here: 1 } })],
  ['a second disk', framed({ end: { disk: 1 } })],
  ['an entry on a second disk', packed({ disk: 1 })],
  ...[0, 1, 0x7fffffff, 0xffffffff].map((directory): Hostile => [
    `the directory at ${directory}`,
    framed({ end: { directory } }),
  ]),
  ...[0, 1, 0xffffffff].map((size): Hostile => [
    `a directory of ${size} bytes`,
    framed({ end: { size } }),
  ]),
  ...[1, 30, 0x7fffffff, 0xfffffff0].map((offset): Hostile => [
    `an entry at ${offset}`,
    packed({ offset }),
  ]),
  ['no entry', makeZip([])],
  ['no definition', makeZip([manifest])],
  ['no manifest', makeZip([workflow])],
  ['no zip', Buffer.from(text)],
  ['nothing', Buffer.alloc(0)],
  ['only an end record', good.subarray(-22)],
  ...[1, 4, 21, 22, 30, 100, 200, good.length - 1, good.length - 22].map((length): Hostile => [
    `truncated after ${length} bytes`,
    good.subarray(0, length),
  ]),
]

const streams: Hostile[] = [
  ['an invalid compressed stream', packed({ method: 8, data: Buffer.from('no stream at all') })],
  [
    'a truncated compressed stream',
    packed({ method: 8, data: deflateRawSync(Buffer.from(text)).subarray(0, 20) }),
  ],
  [
    'data after a compressed stream',
    packed({
      method: 8,
      data: Buffer.concat([deflateRawSync(Buffer.from(text)), Buffer.from('hidden')]),
    }),
  ],
  ['one flipped bit', Buffer.from(good.map((byte, index) => (index === 60 ? byte ^ 1 : byte)))],
]

const manifests: Hostile[] = (
  [
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a newer format', manifestFor(text, { format: 2 })],
    ['no format', manifestFor(text, { format: undefined })],
    ['an id that is a path', manifestFor(text, { id: '../x' })],
    ['an id with a quote', manifestFor(text, { id: "a'--" })],
    ['a name with a line end', manifestFor(text, { name: 'a\r\nSet-Cookie: x' })],
    ['a name of 1,000 letters', manifestFor(text, { name: 'a'.repeat(1000) })],
    ['a folder that is not a text', manifestFor(text, { folder: 5 })],
    ['tags twice', manifestFor(text, { tags: ['a', 'a'] })],
    [
      '1,000 tags',
      manifestFor(text, { tags: Array.from({ length: 1000 }, (_, index) => `${index}`) }),
    ],
    ['an owner', manifestFor(text, { owner: 'system' })],
    ['the prototype', manifestFor(text).replace('"format"', '"__proto__": { "a": 1 }, "format"')],
    ['another digest', manifestFor(`${text}x`)],
    ['an invalid digest', manifestFor(text, { entries: { 'workflow.yaml': 'x' } })],
    [
      'a missing entry',
      manifestFor(text, {
        entries: { 'workflow.yaml': digestOf(text), 'input-form.json': digestOf('{}') },
      }),
    ],
    [
      'an unknown entry',
      manifestFor(text, { entries: { 'workflow.yaml': digestOf(text), '../x': digestOf('') } }),
    ],
  ] as const
).map(([name, content]) => [`a manifest with ${name}`, withManifest(content)])
const forms: Hostile[] = [
  ['a form that is not in the manifest', beside({ name: 'input-form.json', content: '{}' })],
  [
    'a form that is not JSON',
    makeZip([
      workflow,
      {
        ...manifest,
        content: manifestFor(text, {
          entries: { 'workflow.yaml': digestOf(text), 'input-form.json': digestOf('x') },
        }),
      },
      { name: 'input-form.json', content: 'x' },
    ]),
  ],
  [
    'a form that is a list',
    makeZip([
      workflow,
      {
        ...manifest,
        content: manifestFor(text, {
          entries: { 'workflow.yaml': digestOf(text), 'input-form.json': digestOf('[]') },
        }),
      },
      { name: 'input-form.json', content: '[]' },
    ]),
  ],
]

const all: readonly Hostile[] = [
  slips,
  encodings,
  bombs,
  lies,
  sums,
  twice,
  kinds,
  sealed,
  frames,
  streams,
  manifests,
  forms,
]
  .flat()
  .filter(([, bytes]) => !bytes.equals(good))

test('the base archive is valid', async () => {
  assert.ok('workflow' in readArchive(good))
  const compressed = makeZip([
    { ...workflow, method: 8 },
    { ...manifest, method: 8 },
  ])
  assert.ok('workflow' in readArchive(compressed))
})

test('there are 200 of them', () => {
  assert.ok(all.length >= 200, `${all.length}`)
})

const before = process.resourceUsage().maxRSS
for (const [name, bytes] of all)
  test(`hostile: ${name}`, async () => {
    const start = process.cpuUsage()
    const read = readArchive(bytes)
    const used = process.cpuUsage(start)
    assert.ok('complaints' in read, 'it was accepted')
    assert.ok(read.complaints.length > 0)
    for (const { entry, message } of read.complaints)
      assert.ok(message.length > 0 && message.length < 500 && entry.length < 500)
    const seconds = (used.user + used.system) / 1e6
    assert.ok(seconds < 1, `${seconds} s of CPU time`)
  })

test('memory stays bounded', (context) => {
  const grown = Math.round((process.resourceUsage().maxRSS - before) / 1024)
  context.diagnostic(`${all.length} hostile archives: ${grown} MiB more memory at most`)
  assert.ok(grown < 64, `${grown} MiB`)
})
