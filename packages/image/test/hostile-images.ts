import type { ImageRules } from '@skerry/image'

import { field, qcow2Image, type ImageParts } from './qcow2-image.ts'

/** An image that must be rejected, and the expected reason. */
export interface HostileImage {
  readonly about: string
  readonly image: Buffer
  readonly reason: RegExp
  readonly rules?: ImageRules
}

const U32_MAX = 0xffffffff
const U64_MAX = 0xffffffffffffffffn

const extension = {
  backingFormat: 0xe2792aca,
  featureNames: 0x6803f857,
  bitmaps: 0x23852875,
  encryption: 0x0537be77,
  dataFile: 0x44415441,
} as const

/** Every image that `checkImage` must reject; `canary` is the path of a file that none may lead to. */
export function hostileImages(canary: string): HostileImage[] {
  return [
    ...backed(canary),
    ...misnamed(canary),
    ...elsewhere(canary),
    ...contradicting(),
    ...misplacing(),
    ...extending(),
    ...foreign(canary),
    ...mistaken(canary),
  ]
}

const qcow2 = (about: string, reason: RegExp, parts: ImageParts, rules: ImageRules = {}) => ({
  about,
  reason,
  rules,
  image: qcow2Image(parts),
})

const json = (file: object) => `json:${JSON.stringify(file)}`

function backed(canary: string): HostileImage[] {
  const names: Readonly<Record<string, string>> = {
    'a path': canary,
    'a path of another directory': '../../../../../../../../etc/passwd',
    'a file:': `file:${canary}`,
    'a JSON object': json({ driver: 'raw', file: { driver: 'file', filename: canary } }),
    'a JSON object with dots': json({
      driver: 'raw',
      'file.driver': 'file',
      'file.filename': canary,
    }),
    'a JSON object of a device': json({ driver: 'host_device', filename: '/dev/sda' }),
    'an NBD server': 'nbd://localhost:10809/x',
    'an NBD socket': 'nbd+unix:///x?socket=/run/x',
    'a web server': 'http://169.254.169.254/latest/meta-data/',
    'an SSH server': 'ssh://root@localhost/etc/shadow',
    'a directory as a disk': 'fat:rw:/etc',
    'a device': '/dev/sda',
    'an open file': '/proc/self/fd/0',
    'one byte': 'x',
  }
  return Object.entries(names).flatMap(([what, name]) => [
    qcow2(`backing: ${what}`, /it has a backing file/, {
      backing: name,
      extensions: [[extension.backingFormat, 'raw']],
    }),
    qcow2(`backing: ${what}, version 2`, /it has a backing file/, { version: 2, backing: name }),
  ])
}

function misnamed(canary: string): HostileImage[] {
  return [
    qcow2(
      'a backing file when another is allowed',
      /unexpected backing file/,
      { backing: canary, extensions: [[extension.backingFormat, 'raw']] },
      { backing: { allowed: '/ours' } },
    ),
    qcow2('a backing file hidden behind a NUL', /not text/, { backing: `${canary}\0` }),
    qcow2('a backing file that is not UTF-8', /not text/, { backing: Buffer.from([0x2f, 0xff]) }),
    qcow2('a backing file in the header', /lies outside the header/, {
      backing: canary,
      backingAt: 40,
    }),
    qcow2('a backing file past the first cluster', /lies outside the header/, {
      backing: canary,
      backingAt: 600,
    }),
    qcow2('a backing file past the end', /lies outside the header/, {
      u64: { [field.backingOffset]: 1n << 40n },
      u32: { [field.backingLength]: 8 },
    }),
    qcow2('a backing file whose end overflows', /lies outside the header/, {
      u64: { [field.backingOffset]: U64_MAX },
      u32: { [field.backingLength]: 8 },
    }),
    qcow2('a backing file longer than a name', /invalid length/, {
      backing: canary,
      u32: { [field.backingLength]: 1024 },
    }),
    qcow2('a backing file of no length', /invalid length/, {
      u64: { [field.backingOffset]: 300n },
    }),
    qcow2('a backing length without an offset', /lies outside the header/, {
      u32: { [field.backingLength]: 8 },
    }),
    qcow2('a backing format without a file', /it has a backing format/, {
      extensions: [[extension.backingFormat, 'raw']],
    }),
  ]
}

function elsewhere(canary: string): HostileImage[] {
  return [
    qcow2('a data file by feature', /data is in another file/, {
      u64: { [field.incompatible]: 4n },
    }),
    qcow2('a data file by name', /data is in another file/, {
      extensions: [[extension.dataFile, canary]],
    }),
    qcow2('a raw data file', /data is in another file/, {
      extensions: [[extension.dataFile, canary]],
      u64: { [field.incompatible]: 4n, [field.autoclear]: 2n },
    }),
    qcow2('a data file that is a JSON object', /data is in another file/, {
      extensions: [[extension.dataFile, json({ driver: 'file', filename: canary })]],
      u64: { [field.incompatible]: 4n },
    }),
    qcow2('a data file by name in version 2', /data is in another file/, {
      version: 2,
      extensions: [[extension.dataFile, canary]],
    }),
  ]
}

function contradicting(): HostileImage[] {
  const { u8, u32, u64 } = {
    u8: (at: number, value: number) => ({ u8: { [at]: value } }),
    u32: (at: number, value: number) => ({ u32: { [at]: value } }),
    u64: (at: number, value: bigint) => ({ u64: { [at]: value } }),
  }
  return [
    ...[0, 1, 4, U32_MAX].map((version) =>
      qcow2(`version ${version}`, /qcow version is/, u32(field.version, version)),
    ),
    ...[0, 8, 22, 64, U32_MAX].map((bits) =>
      qcow2(`cluster bits ${bits}`, /cluster size/, u32(field.clusterBits, bits)),
    ),
    ...[1, 2, U32_MAX].map((method) =>
      qcow2(`encryption ${method}`, /encrypted/, u32(field.cryptMethod, method)),
    ),
    ...[0, 72, 103, 105, 108, 120, 512, U32_MAX].map((bytes) =>
      qcow2(`header length ${bytes}`, /header length/, u32(field.headerBytes, bytes)),
    ),
    ...[7, 63, U32_MAX].map((order) =>
      qcow2(`refcount order ${order}`, /too wide/, u32(field.refcountOrder, order)),
    ),
    qcow2('no size', /empty/, u64(field.size, 0n)),
    qcow2('an odd size', /multiple of 512/, u64(field.size, 1025n)),
    qcow2('a size of 2 TiB and a sector', /larger than/, u64(field.size, 2n ** 41n + 512n)),
    qcow2('the largest size', /larger than/, u64(field.size, U64_MAX - 511n)),
    qcow2('a size above the caller’s', /larger than 16384 bytes/, {}, { sizeMax: 16_384 }),
    qcow2('a size no number holds', /larger than/, u64(field.size, 2n ** 60n), {
      sizeMax: 2n ** 62n,
    }),
    qcow2('marked corrupt', /corrupt/, u64(field.incompatible, 2n)),
    ...[5n, 31n, 63n].map((bit) =>
      qcow2(`incompatible bit ${bit}`, /unknown feature/, u64(field.incompatible, 1n << bit)),
    ),
    ...[1n, 63n].map((bit) =>
      qcow2(`compatible bit ${bit}`, /unknown feature/, u64(field.compatible, 1n << bit)),
    ),
    ...[0n, 1n, 2n, 63n].map((bit) =>
      qcow2(`autoclear bit ${bit}`, /bitmaps or an unknown/, u64(field.autoclear, 1n << bit)),
    ),
    qcow2('an unknown compression', /compression is unknown/, u8(field.compression, 2)),
    qcow2('zstd without its feature', /contradicts/, u8(field.compression, 1)),
    qcow2(
      'the compression feature without a compression',
      /contradicts/,
      u64(field.incompatible, 8n),
    ),
    qcow2('header padding', /padding/, u8(110, 1)),
    qcow2(
      'extended L2 entries in small clusters',
      /too small for extended/,
      u64(field.incompatible, 16n),
    ),
  ]
}

function misplacing(): HostileImage[] {
  const l1 = (entries: number, offset = 1536n) => ({
    u32: { [field.l1Entries]: entries },
    u64: { [field.l1Offset]: offset },
  })
  const refcount = (clusters: number, offset = 512n) => ({
    u32: { [field.refcountClusters]: clusters },
    u64: { [field.refcountOffset]: offset },
  })
  const snapshots = (count: number, offset = 1024n) => ({
    u32: { [field.snapshots]: count },
    u64: { [field.snapshotsOffset]: offset },
  })
  const ours = { snapshots: true }
  return [
    qcow2('no L1 table', /L1 table is too small/, l1(0)),
    qcow2('an L1 table smaller than the disk', /L1 table is too small/, {
      u64: { [field.size]: 1n << 40n },
    }),
    qcow2('an absurd L1 table', /L1 table is too large/, l1(U32_MAX)),
    qcow2('an L1 table past the end', /L1 table lies outside/, l1(1, 1n << 40n)),
    qcow2('an L1 table whose end overflows', /L1 table lies outside/, l1(1, U64_MAX - 511n)),
    qcow2('an L1 table over the end', /L1 table lies outside/, l1(65)),
    qcow2('an L1 table between clusters', /L1 table is not aligned/, l1(1, 1544n)),
    qcow2('an L1 table in the header', /L1 table overlaps the header/, l1(1, 0n)),
    qcow2('an L1 table in the refcount table', /overlap/, l1(1, 512n)),
    qcow2('no refcount table', /no refcount table/, refcount(0)),
    qcow2('an absurd refcount table', /refcount table is too large/, refcount(U32_MAX)),
    qcow2('a refcount table past the end', /refcount table lies outside/, refcount(1, 1n << 50n)),
    qcow2('a refcount table over the end', /refcount table lies outside/, refcount(64)),
    qcow2('a refcount table between clusters', /refcount table is not aligned/, refcount(1, 513n)),
    qcow2('a refcount table in the header', /refcount table overlaps the header/, refcount(1, 0n)),
    qcow2('snapshots', /internal snapshots/, snapshots(1)),
    qcow2('too many snapshots', /too many snapshots/, snapshots(65_537), ours),
    qcow2(
      'an empty snapshot table between clusters',
      /snapshot table is not aligned/,
      snapshots(0, 1030n),
    ),
    qcow2(
      'an empty snapshot table past the end',
      /snapshot table lies outside/,
      snapshots(0, 1n << 63n),
    ),
    qcow2('snapshots past the end', /snapshot table lies outside/, snapshots(1, 1n << 40n), ours),
    qcow2('snapshots over the end', /snapshot table lies outside/, snapshots(1000), ours),
    qcow2('snapshots in the header', /snapshot table overlaps the header/, snapshots(1, 0n), ours),
    qcow2('snapshots between clusters', /snapshot table is not aligned/, snapshots(1, 1030n), ours),
  ]
}

function extending(): HostileImage[] {
  const many = Array.from({ length: 30 }, (_, index) => [index + 1, ''] as const)
  const cut = (bytes: number) => qcow2Image().subarray(0, bytes)
  return [
    qcow2('bitmaps', /it has bitmaps/, { extensions: [[extension.bitmaps, Buffer.alloc(24)]] }),
    qcow2('a LUKS header', /encrypted/, { extensions: [[extension.encryption, Buffer.alloc(16)]] }),
    qcow2('an unknown extension', /0x12345678 is unknown/, { extensions: [[0x12345678, 'x']] }),
    qcow2('many extensions', /is unknown/, { extensions: many }),
    qcow2('an extension twice', /duplicated/, {
      extensions: [
        [extension.featureNames, ''],
        [extension.featureNames, ''],
      ],
    }),
    qcow2('an extension longer than the header', /longer than the header/, {
      u32: { 112: extension.featureNames, 116: 500 },
    }),
    qcow2('an extension of the largest length', /longer than the header/, {
      u32: { 112: extension.featureNames, 116: U32_MAX },
    }),
    qcow2('an extension up to the very end', /no end marker/, {
      u32: { 112: extension.featureNames, 116: 512 - 120 },
    }),
    qcow2('an end with content', /end marker .* has content/, { u32: { 116: 8 } }),
    qcow2('extensions that run into the backing file', /no end marker/, {
      backing: '/x',
      endless: true,
      extensions: [[extension.backingFormat, 'raw']],
    }),
    { about: 'only a magic', image: cut(4), reason: /truncated/ },
    { about: 'a header that is cut', image: cut(71), reason: /truncated/ },
    { about: 'a header of version 3 that is cut', image: cut(105), reason: /truncated/ },
    { about: 'only a header', image: cut(512), reason: /lies outside the file/ },
  ]
}

const raw = Buffer.alloc(4096)

function foreign(canary: string): HostileImage[] {
  const put = (at: number, bytes: string) => {
    const image = Buffer.from(raw)
    image.write(bytes, at, 'latin1')
    return image
  }
  const descriptor = `version=1\nCID=fffffffe\nparentCID=ffffffff\ncreateType="monolithicFlat"\nRW 8 FLAT "${canary}" 0\n`
  const marked: [format: string, image: Buffer][] = [
    ['QED', put(0, 'QED\0')],
    ['VMDK', put(0, 'KDMV')],
    ['VMDK', put(0, 'COWD')],
    ['VMDK', put(0, `# Disk DescriptorFile\n${descriptor}`)],
    ['VMDK', put(0, `# disk descriptorfile\r\n${descriptor}`)],
    ['VMDK', put(0, descriptor)],
    ['VMDK', put(0, `# a comment\n \n\n# another\n${descriptor}`)],
    ['VHD', put(0, 'conectix')],
    ['VHD', put(4096 - 512, 'conectix')],
    ['VHD', put(4096 - 511, 'conectix')],
    ['VHDX', put(0, 'vhdxfile')],
    ['VDI', put(0x40, '\x7f\x10\xda\xbe')],
    ['LUKS', put(0, 'LUKS\xba\xbe\0\x01')],
    ['LUKS', put(0, 'LUKS\xba\xbe\0\x02')],
    ['Parallels', put(0, 'WithoutFreeSpace')],
    ['Parallels', put(0, 'WithouFreSpacExt')],
    ['Bochs', put(0, 'Bochs Virtual HD Image')],
    ['cloop', put(0, '#!/bin/sh\n#V2.0 Format\nmodprobe cloop')],
    ['DMG', put(4096 - 512, 'koly')],
    ['DMG', put(4096 - 700, 'koly')],
  ]
  return marked.map(([format, image], index) => ({
    about: `${format} (${index})`,
    image,
    reason: new RegExp(`it is ${format}; raw and qcow2 are accepted`),
  }))
}

function mistaken(canary: string): HostileImage[] {
  return [
    { about: 'an empty file', image: Buffer.alloc(0), reason: /it is empty/ },
    {
      about: 'a raw disk of no whole sectors',
      image: Buffer.alloc(1000),
      reason: /multiple of 512/,
    },
    {
      about: 'a raw disk above the caller’s size',
      image: raw,
      reason: /larger than 2048/,
      rules: { sizeMax: 2048n },
    },
    {
      about: 'qcow2 that was said to be raw',
      image: qcow2Image(),
      reason: /expected raw/,
      rules: { expect: 'raw' },
    },
    {
      about: 'raw that was said to be qcow2',
      image: raw,
      reason: /expected qcow2/,
      rules: { expect: 'qcow2' },
    },
    {
      about: 'qcow2 with a backing file that was said to be raw',
      image: qcow2Image({ backing: canary }),
      reason: /expected raw/,
      rules: { expect: 'raw' },
    },
    {
      about: 'raw where an overlay should be',
      image: raw,
      reason: /backing file is missing/,
      rules: { backing: { allowed: '/x' } },
    },
  ]
}
