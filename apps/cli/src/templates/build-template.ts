// Builds a disk image from Debian packages: Debian 12 with cloud-init, OpenSSH and the guest agent. Nothing is mounted: mke2fs
// creates the root file system from a directory, and mtools fills the boot partition.
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const SUITE = 'bookworm'
const MIB = 1024 * 1024
const SECTOR = 512

/** In MiB: partition table, boot partition, root partition. The root partition is last, so it can grow. */
const BOOT_AT = 1
const BOOT_SIZE = 127
const ROOT_AT = BOOT_AT + BOOT_SIZE
const DISK_SIZE = 3072

/** Installed without recommended packages. */
export const packages = [
  'linux-image-cloud-amd64',
  'systemd-sysv',
  'systemd-resolved',
  'udev',
  'dbus',
  'cloud-init',
  'cloud-guest-utils',
  'e2fsprogs',
  'iproute2',
  'netbase',
  'ca-certificates',
  'openssh-server',
  'qemu-guest-agent',
  'sudo',
  'less',
  'vim-tiny',
]

/** Programs needed for the build, with their Debian packages. */
export const builders = {
  mmdebstrap: 'mmdebstrap',
  'mkfs.vfat': 'dosfstools',
  mcopy: 'mtools',
  syslinux: 'syslinux',
  mke2fs: 'e2fsprogs',
  'qemu-img': 'qemu-utils',
} as const

/** Files that replace those of the packages. */
const files: Readonly<Record<string, string>> = {
  'etc/hostname': 'debian\n',
  'etc/hosts': '127.0.0.1 localhost\n127.0.1.1 debian\n::1 localhost\n',
  'etc/default/locale': 'LANG=C.UTF-8\n',
  'etc/fstab': 'LABEL=root / ext4 errors=remount-ro 0 0\n',
  // Clones share their machine-id, so the MAC address identifies a guest to the DHCP server.
  'etc/systemd/network/80-dhcp.network': [
    '[Match]\nName=e*\n',
    '[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n',
    '[DHCPv4]\nClientIdentifier=mac\n',
  ].join('\n'),
  // cloud-init would wait for every other datasource; systemd configures the network, for any network card.
  'etc/cloud/cloud.cfg.d/90-skerry.cfg': [
    'datasource_list: [NoCloud, None]',
    'network: {config: disabled}',
    'disable_root: false',
    'manage_etc_hosts: true',
    'ssh_genkeytypes: [ed25519]',
    // cloud-init's default, en_US.UTF-8, must be generated first, which its module cannot do on Debian.
    'locale: C.UTF-8',
    '',
  ].join('\n'),
  // A small initramfs unpacks faster, above all under emulation.
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

/** Runs a program; `hear` gets every line that it prints. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  hear?: (line: string) => void,
) => Promise<void>

/** Steps shown to the user, in order; the first ones start at certain output lines of mmdebstrap. */
const steps = [
  { text: 'reading the archive', begins: /running apt-get update/ },
  { text: 'downloading the base packages', begins: /downloading packages/ },
  { text: 'unpacking the base packages', begins: /extracting archives/ },
  { text: 'installing the base packages', begins: /installing essential/ },
  { text: 'downloading and installing the other packages', begins: /installing remaining/ },
  { text: 'cleaning up', begins: /cleaning package lists/ },
  { text: 'creating the boot partition' },
  { text: 'creating the root partition' },
  { text: 'compressing the image' },
] as const

/** Builds the image as a new file, using an empty work directory. `report` gets each step. */
export async function buildTemplate(
  work: string,
  image: string,
  run: RunProgram,
  report: (step: string) => void,
): Promise<void> {
  const root = join(work, 'root')
  const disk = join(work, 'disk.img')
  const begin = (text: (typeof steps)[number]['text']) => {
    const at = steps.findIndex((step) => step.text === text) + 1
    report(`step ${at} of ${steps.length}, ${text}`)
  }
  await installSystem(work, root, run, (line) => {
    const begun = steps.find((step) => 'begins' in step && step.begins.test(line))
    if (begun) begin(begun.text)
  })
  begin('creating the boot partition')
  await using file = await open(disk, 'wx', 0o600)
  await file.truncate(DISK_SIZE * MIB)
  await makeBootPartition(work, root, disk, run)
  begin('creating the root partition')
  await makeRootPartition(root, disk, run)
  await file.write(await partitionTable(), 0, SECTOR, 0)
  await file.sync()
  begin('compressing the image')
  await run('qemu-img', ['convert', '-q', '-f', 'raw', '-O', 'qcow2', disk, image])
}

async function installSystem(
  work: string,
  root: string,
  run: RunProgram,
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
    '--mode=root',
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Retries "3"',
    // Once before the kernel is installed, so that its initramfs uses these files; and at the end, over the files of packages.
    `--essential-hook=${copy}`,
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/resolv.conf',
    inside('ln -s ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf'),
    // Each guest generates its own.
    '--customize-hook=: >"$1/etc/machine-id"',
    inside('mkdir -p /mnt/shares; systemctl enable systemd-networkd systemd-resolved'),
    `--customize-hook=${copy}`,
    SUITE,
    root,
  ]
  await run('mmdebstrap', words, hear)
}

async function makeBootPartition(work: string, root: string, disk: string, run: RunProgram) {
  const menu = join(work, 'syslinux.cfg')
  await writeFile(menu, bootMenu)
  const boot = await readdir(join(root, 'boot'))
  const newest = (prefix: string) =>
    join(root, 'boot', boot.findLast((name) => name.startsWith(prefix)) ?? prefix)
  const sectors = String((BOOT_AT * MIB) / SECTOR)
  const size = String(BOOT_SIZE * 1024)
  await run('mkfs.vfat', [
    '-F',
    '16',
    '-n',
    'BOOT',
    `--offset=${sectors}`,
    '-h',
    sectors,
    disk,
    size,
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

async function makeRootPartition(root: string, disk: string, run: RunProgram): Promise<void> {
  const place = `offset=${ROOT_AT * MIB},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`
  const size = `${(DISK_SIZE - ROOT_AT) * 1024}k`
  const kind = ['-q', '-F', '-t', 'ext4', '-L', 'root']
  await run('mke2fs', [...kind, '-d', root, '-E', place, disk, size])
}

/** An MBR, which every BIOS boots from: two entries, and syslinux's 440 bytes of code that boot the first. */
async function partitionTable(): Promise<Buffer> {
  const sector = Buffer.alloc(SECTOR)
  const loader = await readFile('/usr/lib/SYSLINUX/mbr.bin')
  loader.copy(sector, 0, 0, Math.min(loader.length, 440))
  const entry = (place: number, active: boolean, type: number, atMiB: number, sizeMiB: number) => {
    const at = 446 + place * 16
    sector[at] = active ? 0x80 : 0
    // CHS values for "out of range", so that the LBA values are used.
    sector.set([0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff], at + 1)
    sector.writeUInt32LE((atMiB * MIB) / SECTOR, at + 8)
    sector.writeUInt32LE((sizeMiB * MIB) / SECTOR, at + 12)
  }
  entry(0, true, 0x0e, BOOT_AT, BOOT_SIZE)
  entry(1, false, 0x83, ROOT_AT, DISK_SIZE - ROOT_AT)
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}
