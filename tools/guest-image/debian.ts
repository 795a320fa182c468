// The Debian guest: a full Debian 12 with systemd, cloud-init, OpenSSH and the QEMU guest agent, for what needs a real system.
// Nothing is mounted on the way: the root file system is made from a directory, the boot partition is filled by mtools.
import { readdir, readFile, writeFile, open } from 'node:fs/promises'
import { join } from 'node:path'

import { run } from '../lab/src/run.ts'
import type { Recipe } from './recipe.ts'

const ROOT = join(import.meta.dirname, 'debian-root')
const SUITE = 'bookworm'
const MIB = 1024 * 1024
const SECTOR = 512

/** The disk in MiB: partition table, boot partition, root partition. The root can grow, because nothing comes after it. */
const BOOT_AT = 1
const BOOT_SIZE = 95
const ROOT_AT = BOOT_AT + BOOT_SIZE
const DISK_SIZE = 2048

const PACKAGES = [
  'linux-image-cloud-amd64',
  'systemd-sysv',
  'udev',
  'dbus',
  'cloud-init',
  'cloud-guest-utils',
  'e2fsprogs',
  'iproute2',
  'netbase',
  'openssh-server',
  'qemu-guest-agent',
  'sudo',
]

export const debian: Recipe = {
  kind: 'debian',
  files: [import.meta.filename, ROOT],
  packages: [
    'linux-image-cloud-amd64',
    'systemd',
    'cloud-init',
    'openssh-server',
    'qemu-guest-agent',
  ],
  async build(work, out, say) {
    const root = join(work, 'root')
    say(`installing Debian ${SUITE} into a directory, which takes two minutes`)
    await installSystem(root)
    say('making the disk')
    const disk = join(work, 'disk.img')
    await run(['truncate', '-s', `${DISK_SIZE}M`, disk])
    await makeBootPartition(work, root, disk)
    await makeRootPartition(root, disk)
    await writePartitionTable(disk)
    await run(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', disk, out])
  },
}

async function installSystem(root: string): Promise<void> {
  const inside = (script: string) => `--customize-hook=chroot "$1" sh -euc '${script}'`
  await run([
    'mmdebstrap',
    '--mode=root',
    '--variant=minbase',
    `--include=${PACKAGES.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Retries "3"',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
    '--dpkgopt=path-exclude=/usr/share/man/*',
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    // Before the kernel comes, so that its RAM disk is made as these files say.
    `--essential-hook=cp -rT --no-preserve=ownership '${ROOT}' "$1"`,
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/resolv.conf',
    // Each guest makes its own.
    '--customize-hook=: >"$1/etc/machine-id"',
    inside('mkdir -p /mnt/shares; systemctl enable systemd-networkd'),
    inside(
      'systemctl disable apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer',
    ),
    // Some packages bring their own idea of these files, and mmdebstrap copies the machine's.
    `--customize-hook=cp -rT --no-preserve=ownership '${ROOT}' "$1"`,
    SUITE,
    root,
  ])
}

async function makeBootPartition(work: string, root: string, disk: string): Promise<void> {
  const sectors = (BOOT_AT * MIB) / SECTOR
  const config = join(work, 'syslinux.cfg')
  await writeFile(
    config,
    [
      'DEFAULT debian',
      'PROMPT 0',
      'TIMEOUT 0',
      'LABEL debian',
      '  KERNEL vmlinuz',
      '  INITRD initrd.img',
      '  APPEND root=LABEL=root ro console=tty0 console=ttyS0 quiet panic=-1 net.ifnames=1',
      '',
    ].join('\n'),
  )
  const boot = await readdir(join(root, 'boot'))
  const named = (prefix: string) =>
    join(root, 'boot', boot.find((name) => name.startsWith(prefix)) ?? prefix)
  await run([
    'mkfs.vfat',
    '-F',
    '16',
    '-n',
    'BOOT',
    `--offset=${sectors}`,
    '-h',
    String(sectors),
    disk,
    String(BOOT_SIZE * 1024),
  ])
  for (const [file, name] of [
    [named('vmlinuz-'), 'vmlinuz'],
    [named('initrd.img-'), 'initrd.img'],
    [config, 'syslinux.cfg'],
  ] as const) {
    await run(['mcopy', '-i', `${disk}@@${BOOT_AT}M`, file, `::${name}`])
  }
  await run(['syslinux', '--install', '--offset', String(BOOT_AT * MIB), disk])
}

async function makeRootPartition(root: string, disk: string): Promise<void> {
  const place = `offset=${ROOT_AT * MIB},root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1`
  const size = `${(DISK_SIZE - ROOT_AT) * 1024}k`
  await run(['mke2fs', '-q', '-F', '-t', 'ext4', '-L', 'root', '-d', root, '-E', place, disk, size])
}

/** The old kind of partition table, which every BIOS boots from: two entries and syslinux's 440 bytes that start the first. */
async function writePartitionTable(disk: string): Promise<void> {
  const sector = Buffer.alloc(SECTOR)
  const loader = await readFile('/usr/lib/SYSLINUX/mbr.bin')
  loader.copy(sector, 0, 0, Math.min(loader.length, 440))
  sector.writeUInt32LE(0x5ce44e01, 440)
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
  const file = await open(disk, 'r+')
  try {
    await file.write(sector, 0, SECTOR, 0)
  } finally {
    await file.close()
  }
}
