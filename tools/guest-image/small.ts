// The small guest: Debian's cloud kernel with busybox, a DHCP client, the QEMU guest agent, an SSH server and virtiofs, all in
// its initial RAM disk. About 20 MB, up in a few seconds even under emulation.
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { run } from '../lab/src/system/run.ts'
import { cloudKernelPackage, unpack } from './debian-archive.ts'
import type { Recipe } from './recipe.ts'

const ROOT = join(import.meta.dirname, 'small-root')
const DISK_MB = 48
/** Ciphers are not tested and signatures of modules not checked: together a second of each boot under emulation. */
const PARAMETERS =
  'console=tty0 console=ttyS0 quiet panic=-1 cryptomgr.notests initcall_blacklist=crypto_kdf108_init,load_system_certificate_list'

/** Loaded at every boot, in this order. */
const ALWAYS = [
  'virtio_pci',
  'virtio_blk',
  'virtio_net',
  'virtio_console',
  'virtiofs',
  'virtio_rng',
  'virtio_balloon',
  'evdev',
  'button',
]
/** Loaded if the processor offers virtual machines: half a second under emulation. */
const NESTED = ['kvm_amd']
/** Loaded if a seed may exist: a second virtio disk, or a disk or CD behind virtio-scsi, with vfat or ISO 9660 on it. */
const SEED = [
  'virtio_scsi',
  'sd_mod',
  'sr_mod',
  'isofs',
  'vfat',
  'nls_cp437',
  'nls_ascii',
  'nls_utf8',
]

export const small: Recipe = {
  kind: 'small',
  files: [import.meta.filename, ROOT],
  packages: [
    'linux-image-cloud-amd64',
    'qemu-guest-agent',
    'busybox-static',
    'dropbear-bin',
    'libc6',
    'syslinux',
  ],
  async build(work, out, say) {
    const kernelPackage = await cloudKernelPackage()
    const version = kernelPackage.replace('linux-image-', '')
    say(`unpacking ${kernelPackage}`)
    await unpack([kernelPackage, 'qemu-guest-agent'], work)
    const packages = join(work, 'packages')
    const root = join(work, 'root')
    await makeRoot(root, join(packages, 'usr/sbin/qemu-ga'))
    await run(['depmod', '-b', packages, version])
    await copyModules(packages, version, ALWAYS, join(root, 'modules/always'))
    await copyModules(packages, version, NESTED, join(root, 'modules/nested'))
    await copyModules(packages, version, SEED, join(root, 'modules/seed'))
    say('packing the root')
    await run(
      [
        'sh',
        '-c',
        'find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet | gzip -6 >../initrd.gz',
      ],
      { cwd: root },
    )
    say('making the disk')
    await makeDisk(work, join(packages, 'boot', `vmlinuz-${version}`))
    await run(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', join(work, 'disk.img'), out])
  },
}

async function makeRoot(root: string, agent: string): Promise<void> {
  const folders =
    'bin dev etc/dropbear lib lib64 mnt/shares modules proc root/.ssh run sys tmp var/run var/log'
  for (const folder of folders.split(' ')) await mkdir(join(root, folder), { recursive: true })
  await cp(ROOT, root, { recursive: true })
  await cp('/bin/busybox', join(root, 'bin/busybox'))
  for (const link of ['sbin', 'usr/bin', 'usr/sbin']) {
    await run(['ln', '-s', link.includes('/') ? '../bin' : 'bin', join(root, link)])
  }
  for (const program of [agent, '/usr/sbin/dropbear']) {
    await cp(program, join(root, 'bin', basename(program)))
    for (const library of await librariesOf(program)) {
      const folder = library.includes('ld-linux') ? 'lib64' : 'lib'
      await cp(library, join(root, folder, basename(library)), { dereference: true })
    }
  }
  await run(['chmod', '-R', 'go-w', root])
  await run(['chmod', '700', join(root, 'root'), join(root, 'root/.ssh')])
}

/** The shared libraries that a program is linked with, from a directory or from this machine. */
export async function librariesOf(program: string, directory = ''): Promise<string[]> {
  const said = await run(['ldd', program], {
    env: { ...process.env, LD_LIBRARY_PATH: directory },
  })
  const missing = said.match(/^\s*(\S+) => not found/m)?.[1]
  if (missing !== undefined) {
    throw new Error(
      `${program} needs ${missing}, which is not installed: run npm run setup as root`,
    )
  }
  return [...said.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
}

/** Copies kernel modules and their dependencies, named so that alphabetical order is the load order. */
export async function copyModules(
  packages: string,
  version: string,
  modules: readonly string[],
  to: string,
): Promise<void> {
  await mkdir(to, { recursive: true })
  const paths = new Set<string>()
  for (const module of modules) {
    const said = await run(['modprobe', '-d', packages, '-S', version, '--show-depends', module])
    for (const [, path = ''] of said.matchAll(/^insmod (\S+)/gm)) paths.add(path)
  }
  const before = await readdir(join(to, '../always'))
  for (const [place, path] of [...paths].entries()) {
    if (before.some((name) => name.endsWith(`-${basename(path)}`))) continue
    await cp(path, join(to, `${100 + place}-${basename(path)}`))
  }
}

async function makeDisk(work: string, kernel: string): Promise<void> {
  const disk = join(work, 'disk.img')
  const config = join(work, 'syslinux.cfg')
  await writeFile(
    config,
    [
      'DEFAULT skerry',
      'PROMPT 0',
      'TIMEOUT 0',
      'LABEL skerry',
      '  KERNEL vmlinuz',
      '  INITRD initrd.gz',
      `  APPEND ${PARAMETERS}`,
      '',
    ].join('\n'),
  )
  await run(['truncate', '-s', `${DISK_MB}M`, disk])
  await run(['mkfs.vfat', disk])
  for (const [file, name] of [
    [kernel, 'vmlinuz'],
    [join(work, 'initrd.gz'), 'initrd.gz'],
    [config, 'syslinux.cfg'],
  ] as const) {
    await run(['mcopy', '-i', disk, file, `::${name}`])
  }
  await run(['syslinux', '--install', disk])
}
