// Makes a disk image out of Debian packages: Debian 12 with cloud-init, OpenSSH and the guest agent. Nothing is mounted on
// the way: the root file system is made from a directory, the boot partition is filled by mtools.
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const SUITE = 'bookworm'
const MIB = 1024 * 1024
const SECTOR = 512

/** In MiB: partition table, boot partition, root partition. The root can grow, because nothing comes after it. */
const BOOT_AT = 1
const BOOT_SIZE = 127
const ROOT_AT = BOOT_AT + BOOT_SIZE
const DISK_SIZE = 3072

/** All of it without what is only recommended. */
export const packages = [
  ...['linux-image-cloud-amd64', 'systemd-sysv', 'systemd-resolved', 'udev', 'dbus'],
  ...['cloud-init', 'cloud-guest-utils', 'e2fsprogs', 'iproute2', 'netbase', 'ca-certificates'],
  ...['openssh-server', 'qemu-guest-agent', 'sudo', 'less', 'vim-tiny'],
]

/** The programs that the building needs, each with the Debian package that has it. */
export const builders = {
  mmdebstrap: 'mmdebstrap',
  'mkfs.vfat': 'dosfstools',
  mcopy: 'mtools',
  syslinux: 'syslinux',
  mke2fs: 'e2fsprogs',
  'qemu-img': 'qemu-utils',
} as const

/** Files of the image that differ from what the packages bring. */
const files: Readonly<Record<string, string>> = {
  'etc/hostname': 'debian\n',
  'etc/hosts': '127.0.0.1 localhost\n127.0.1.1 debian\n::1 localhost\n',
  'etc/fstab': 'LABEL=root / ext4 errors=remount-ro 0 0\n',
  // Clones have the same machine-id, so the card's own address is the name that the DHCP server knows a guest by.
  'etc/systemd/network/80-dhcp.network': [
    '[Match]\nName=e*\n',
    '[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n',
    '[DHCPv4]\nClientIdentifier=mac\n',
  ].join('\n'),
  // Every source of a seed but the disk would be waited for; the network is systemd's, for whatever card is there.
  'etc/cloud/cloud.cfg.d/90-skerry.cfg': [
    'datasource_list: [NoCloud, None]',
    'network: {config: disabled}',
    'disable_root: false',
    'manage_etc_hosts: true',
    'ssh_genkeytypes: [ed25519]',
    '',
  ].join('\n'),
  // A small initial RAM disk unpacks faster, above all under emulation.
  'etc/initramfs-tools/conf.d/skerry': 'MODULES=list\nCOMPRESS=gzip\n',
  'usr/share/initramfs-tools/modules.d/skerry': 'virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\n',
}

const bootMenu = [
  'DEFAULT debian',
  'PROMPT 0',
  'TIMEOUT 0',
  'LABEL debian',
  '  KERNEL vmlinuz',
  '  INITRD initrd.img',
  '  APPEND root=LABEL=root ro console=tty0 console=ttyS0 quiet panic=-1',
  '',
].join('\n')

/** Runs a program; `hear` gets every line that it says on the way. */
export type Run = (
  command: string,
  args: readonly string[],
  hear?: (line: string) => void,
) => Promise<void>

/** What the person is told, in order; the first ones begin when mmdebstrap says so. */
const steps = [
  { text: 'reading the archive', begins: /running apt-get update/ },
  { text: 'fetching the first packages', begins: /downloading packages/ },
  { text: 'unpacking them', begins: /extracting archives/ },
  { text: 'installing them', begins: /installing essential/ },
  { text: 'fetching and installing the others', begins: /installing remaining/ },
  { text: 'tidying up', begins: /cleaning package lists/ },
  { text: 'making the boot partition' },
  { text: 'making the root partition' },
  { text: 'packing the disk' },
] as const

/** Builds the image as a file that is not there yet, with an empty directory to work in. `tell` hears each step. */
export async function buildTemplate(
  work: string,
  image: string,
  run: Run,
  tell: (step: string) => void,
): Promise<void> {
  const root = join(work, 'root')
  const disk = join(work, 'disk.img')
  const begin = (text: (typeof steps)[number]['text']) => {
    const at = steps.findIndex((step) => step.text === text) + 1
    tell(`step ${at} of ${steps.length}, ${text}`)
  }
  await installSystem(work, root, run, (line) => {
    const begun = steps.find((step) => 'begins' in step && step.begins.test(line))
    if (begun) begin(begun.text)
  })
  begin('making the boot partition')
  await using file = await open(disk, 'wx', 0o600)
  await file.truncate(DISK_SIZE * MIB)
  await makeBootPartition(work, root, disk, run)
  begin('making the root partition')
  await makeRootPartition(root, disk, run)
  await file.write(await partitionTable(), 0, SECTOR, 0)
  await file.sync()
  begin('packing the disk')
  await run('qemu-img', ['convert', '-q', '-f', 'raw', '-O', 'qcow2', disk, image])
}

async function installSystem(
  work: string,
  root: string,
  run: Run,
  hear: (line: string) => void,
): Promise<void> {
  const ours = join(work, 'files')
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(ours, name)), { recursive: true })
    await writeFile(join(ours, name), text)
  }
  const inside = (script: string) => `--customize-hook=chroot "$1" sh -euc '${script}'`
  const copy = `cp -rT --no-preserve=ownership '${ours}' "$1"`
  const words = [
    ...['--mode=root', '--variant=minbase', `--include=${packages.join(',')}`],
    ...['--aptopt=APT::Install-Recommends "false"', '--aptopt=Acquire::Retries "3"'],
    // Before the kernel comes, so that its RAM disk is made as these files say; and at the end, over what packages bring.
    `--essential-hook=${copy}`,
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/resolv.conf',
    inside('ln -s ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf'),
    // Each guest makes its own.
    '--customize-hook=: >"$1/etc/machine-id"',
    inside('mkdir -p /mnt/shares; systemctl enable systemd-networkd systemd-resolved'),
    `--customize-hook=${copy}`,
    ...[SUITE, root],
  ]
  await run('mmdebstrap', words, hear)
}

async function makeBootPartition(work: string, root: string, disk: string, run: Run) {
  const menu = join(work, 'syslinux.cfg')
  await writeFile(menu, bootMenu)
  const boot = await readdir(join(root, 'boot'))
  const newest = (prefix: string) =>
    join(root, 'boot', boot.findLast((name) => name.startsWith(prefix)) ?? prefix)
  const sectors = String((BOOT_AT * MIB) / SECTOR)
  const size = String(BOOT_SIZE * 1024)
  await run('mkfs.vfat', [
    ...['-F', '16', '-n', 'BOOT', `--offset=${sectors}`, '-h', sectors, disk, size],
  ])
  const contents = [
    [newest('vmlinuz-'), 'vmlinuz'],
    [newest('initrd.img-'), 'initrd.img'],
    [menu, 'syslinux.cfg'],
  ] as const
  for (const [file, name] of contents) {
    await run('mcopy', ['-i', `${disk}@@${BOOT_AT}M`, file, `::${name}`])
  }
  await run('syslinux', ['--install', '--offset', String(BOOT_AT * MIB), disk])
}

async function makeRootPartition(root: string, disk: string, run: Run): Promise<void> {
  const place = `offset=${ROOT_AT * MIB},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`
  const size = `${(DISK_SIZE - ROOT_AT) * 1024}k`
  const kind = ['-q', '-F', '-t', 'ext4', '-L', 'root']
  await run('mke2fs', [...kind, '-d', root, '-E', place, disk, size])
}

/** The old kind, which every BIOS boots from: two entries, and syslinux's 440 bytes that start the first. */
async function partitionTable(): Promise<Buffer> {
  const sector = Buffer.alloc(SECTOR)
  const loader = await readFile('/usr/lib/SYSLINUX/mbr.bin')
  loader.copy(sector, 0, 0, Math.min(loader.length, 440))
  const entry = (place: number, active: boolean, type: number, atMiB: number, sizeMiB: number) => {
    const at = 446 + place * 16
    sector[at] = active ? 0x80 : 0
    // Cylinders and heads say "too far to tell", so that the sector numbers count.
    sector.set([0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff], at + 1)
    sector.writeUInt32LE((atMiB * MIB) / SECTOR, at + 8)
    sector.writeUInt32LE((sizeMiB * MIB) / SECTOR, at + 12)
  }
  entry(0, true, 0x0e, BOOT_AT, BOOT_SIZE)
  entry(1, false, 0x83, ROOT_AT, DISK_SIZE - ROOT_AT)
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}
