import type { SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'

const pick = (random: SeededRandom, from: readonly string[]): string =>
  from[random.below(from.length)] ?? ''

/** Texts with a meaning for some component on the way: XML, QEMU's options, a shell, a path, a terminal. */
const pieces = [
  `</title><devices><disk type='file' device='disk'><source file='/etc/shadow'/><target dev='vdz'/></disk></devices><title>`,
  `"/><filesystem type='mount'><source dir='/'/><target dir='root'/></filesystem>`,
  `<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;`,
  `</skerry:vm></metadata><qemu:commandline><qemu:arg value='-monitor'/></qemu:commandline>`,
  `<![CDATA[<hostdev mode='subsystem'/>]]>`,
  `]]><devices/>`,
  `<!-- `,
  ` -->`,
  `<?xml version="1.0"?>`,
  `&lt;disk/&gt;`,
  `&#60;disk/&#62;`,
  `&#0;`,
  `,file=/etc/shadow,format=raw`,
  `,,server=on,wait=off`,
  ` -drive file=/etc/shadow `,
  `json:{"driver":"raw"}`,
  `$(reboot)`,
  '`reboot`',
  `; rm -rf / #`,
  `| tee /etc/passwd`,
  `'"'"'`,
  `%s%n%x`,
  `../../../../etc/passwd`,
  `/dev/sda`,
  `\\`,
  `\\u003cdisk/>`,
  `--`,
  `-e`,
  `*?[a-z]`,
  `~root`,
  `CON`,
  `null`,
  `__proto__`,
  `urn:skerry:vm:1`,
  `local-vm`,
  ` `,
  '\u00a0',
  '\u200b\u200d\u2060',
  '\u202e gnp.exe',
  '\ufeff',
  '\u2028\u2029',
  '\u0301\u0301\u0301',
  '\ufffd',
  '\u{1f600}\u{10ffff}',
  '日本語',
  'ǅ',
  'İı',
] as const

/** Characters that no name may contain. */
const illegal = [
  '\u0000',
  '\n',
  '\r\n',
  '\t',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\u009f',
  '\ud800',
  '\udfff',
  '\ufffe',
  '\uffff',
] as const

function joined(random: SeededRandom, charactersMax: number, more: readonly string[] = []): string {
  const many: string[] = []
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    many.push(pick(random, [...pieces, ...more]))
  }
  return Array.from(many.join('')).slice(0, charactersMax).join('')
}

/** A valid name that could be mistaken for something else. */
export const hostileName = (random: SeededRandom): string => joined(random, 128)

/** A tag may contain everything that a name may not, except invalid Unicode. */
export const hostileTag = (random: SeededRandom): string =>
  joined(random, 1024, ['\u0000', '\n', '\r\n', '\t', '\u001b[2J', '\ufffe', 'x'.repeat(1000)])

/** A name that must be rejected. */
export function illegalName(random: SeededRandom): string {
  if (random.below(10) === 0) return pick(random, ['', 'x'.repeat(129), '😀'.repeat(129)])
  const name = Array.from(joined(random, 100))
  name.splice(random.below(name.length + 1), 0, pick(random, illegal))
  return name.join('')
}

/** A valid id that is unlike a usual name. */
export function strangeId(random: SeededRandom, number: number): string {
  const endings = ['', '.', '..', '-', '--', '_', '.json', '.tmp', '.vm', '.xml', '.pid', '.sock']
  const starts = ['0', 'A', 'a..', 'x-', 'qemu', 'domain-1-', '1e9', 'a._-'] as const
  return `${pick(random, starts)}${number}${pick(random, endings)}`
}

/** An id that must be rejected. */
export function illegalId(random: SeededRandom): string {
  const plain = pick(random, ['', 'x'.repeat(64), 'power', 'Folders', 'IPADDRESS', '.', '..', '-x'])
  const broken = pick(random, [...pieces.filter((piece) => /[^\w.-]/.test(piece)), ...illegal])
  return random.below(4) === 0 ? plain : `a${broken}`
}

/** A folder request that aims at another directory. */
export function hostileFolder(
  random: SeededRandom,
  mine: string,
): { guestPath: string; hostPath: string } {
  const guestPath = pick(random, [
    'a',
    '...',
    '-rf',
    '.',
    '..',
    '',
    'a/b',
    '../a',
    '/etc',
    'a b',
    'x'.repeat(65),
    ...pieces,
    ...illegal,
  ])
  const hostPath = pick(random, [
    mine,
    '/',
    '/etc',
    '/root/.ssh',
    '/proc/self/root',
    '/dev',
    '/var/lib/skerry',
    '/run',
    '',
    '.',
    'etc',
    '//etc//',
    `${mine}/../../etc`,
    `${mine}\0/etc`,
    '/var/lib/libvirt',
    ...pieces.map((piece) => `${mine}/${piece}`),
  ])
  return { guestPath, hostPath }
}
