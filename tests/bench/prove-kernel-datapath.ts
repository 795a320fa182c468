// npm run prove:kernel-datapath: Goal: TCP between guests through OVN with the kernel's datapath, offloads on, is at least 0.6 of
// kernel VXLAN. Method: the machines of CI forward packets in ovs-vswitchd itself, because their kernel has no openvswitch module, so one
// emulated machine boots Debian's kernel with two hosts as network namespaces (kernel-datapath/measure.sh).
// Prints one line of JSON; fails if the goal is missed.
import { cp, mkdir, mkdtempDisposable, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { cloudKernelPackage, unpack, versionsOf } from '../../tools/guest-image/debian-archive.ts'
import { copyModules, librariesOf } from '../../tools/guest-image/small.ts'
import { run } from '../../tools/lab/src/system/run.ts'

const GOAL = 0.6
const OWN = join(import.meta.dirname, 'kernel-datapath')
/** Programs and their libraries that this machine need not have. */
const PACKAGES = ['iperf3', 'libiperf0', 'libsctp1', 'iputils-ping']
const MODULES = ['openvswitch', 'vport_geneve', 'vxlan', 'veth', 'bridge', 'nf_conntrack', 'nf_nat']
const PROGRAMS =
  'bash ip ethtool ss ovs-vswitchd ovsdb-server ovsdb-tool ovs-vsctl ovn-nbctl ovn-sbctl ovn-northd ovn-controller'
const TIME_OUT_MS = 3_600_000

await using dir = await mkdtempDisposable(join(tmpdir(), 'kernel-datapath-'))
const kernel = await buildMachine(dir.path)
console.error(`${kernel} boots in an emulated machine; this takes 5 to 20 minutes`)
const figures = readFigures(await boot(dir.path, kernel))
const median = (name: string): number => {
  const sorted = (figures.get(name) ?? []).map(Number).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
const mbit = Object.fromEntries(
  ['flat', 'vxlan', 'ovn', 'ovn-filtered'].map((name) => [name, median(name)]),
)
const ratio = median('ovn') / median('vxlan')
const one = (name: string) => figures.get(name)?.[0]
const isReal = one('datapath') === 'system' && one('tso') === 'on' && one('mtu') === 'whole'
const isMet = isReal && ratio >= GOAL
const proof = {
  proof: 'kernel-datapath',
  kernel,
  mbit,
  ratio: Math.round(ratio * 100) / 100,
  goal: GOAL,
  ticksPer100MB: { vxlan: median('vxlan-ticks-per-100MB'), ovn: median('ovn-ticks-per-100MB') },
  ...Object.fromEntries(
    ['datapath', 'tso', 'mtu', 'switch-killed-received'].map((name) => [name, one(name)]),
  ),
  isMet,
  loadAverage: loadavg()[0],
}
console.log(JSON.stringify(proof))
if (!isMet) process.exitCode = 1

/** An initial RAM disk with Debian's modules and the programs of this machine; returns the version of its kernel. */
async function buildMachine(work: string): Promise<string> {
  const archive = await cloudKernelPackage()
  const version = archive.replace('linux-image-', '')
  await versionsOf(PACKAGES)
  await unpack([archive, ...PACKAGES], work)
  const unpacked = join(work, 'packages')
  const root = join(work, 'root')
  for (const folder of ['dev', 'proc', 'run', 'sys', 'tmp', 'lib64'])
    await mkdir(join(root, folder), { recursive: true })
  await run(['depmod', '-b', unpacked, version])
  await copyModules(unpacked, version, MODULES, join(root, 'modules/always'))
  for (const program of PROGRAMS.split(' ')) await putProgram(root, await placeOf(program))
  const libraries = join(unpacked, 'usr/lib/x86_64-linux-gnu')
  for (const program of ['usr/bin/iperf3', 'bin/ping'])
    await putProgram(root, join(unpacked, program), libraries)
  // It is linked statically.
  await cp('/bin/busybox', join(root, 'usr/bin/busybox'))
  for (const folder of ['/usr/share/openvswitch', '/usr/share/ovn'])
    await run([
      'sh',
      '-c',
      `mkdir -p ${root}${folder} && cp ${folder}/*.ovsschema ${root}${folder}`,
    ])
  await cp(join(OWN, 'init'), join(root, 'init'))
  await cp(join(OWN, 'measure.sh'), join(root, 'measure.sh'))
  await run(['chmod', '755', join(root, 'init')])
  await run(['sh', '-c', 'find . | cpio -o -H newc -R 0:0 --quiet | gzip -1 >../initrd.gz'], {
    cwd: root,
  })
  await rm(root, { recursive: true })
  return version
}

async function placeOf(program: string): Promise<string> {
  return (await run(['sh', '-c', 'command -v "$1"', 'sh', program])).trim()
}

/** In /usr/bin, by the name by which it is called. */
async function putProgram(root: string, file: string, libraries?: string): Promise<void> {
  const bin = join(root, 'usr/bin')
  await mkdir(bin, { recursive: true })
  await cp(file, join(bin, basename(file)), { dereference: true })
  for (const library of await librariesOf(file, libraries)) {
    const isLoader = library.includes('ld-linux')
    const folder = join(root, isLoader ? 'lib64' : 'lib')
    await mkdir(folder, { recursive: true })
    await cp(library, join(folder, basename(library)), { dereference: true })
  }
}

/** What the machine prints until it switches off. */
async function boot(work: string, version: string): Promise<string> {
  const image = join(work, 'packages/boot', `vmlinuz-${version}`)
  const append = 'console=ttyS0 quiet panic=-1 mitigations=off'
  const machine =
    '-accel tcg,thread=multi -smp 2 -m 1536 -cpu max -nodefaults -no-reboot -display none'
  const files = [
    '-kernel',
    image,
    '-initrd',
    join(work, 'initrd.gz'),
    '-append',
    append,
    '-serial',
    'stdio',
  ]
  return run(['qemu-system-x86_64', ...machine.split(' '), ...files], {
    signal: AbortSignal.timeout(TIME_OUT_MS),
    loud: process.stderr.isTTY,
  })
}

function readFigures(said: string): Map<string, string[]> {
  const failed = said.match(/^failed: .*$/m)?.[0]
  if (failed !== undefined) throw new Error(`${failed}\n${said.slice(-4_000)}`)
  const figures = new Map<string, string[]>()
  for (const [, name = '', value = ''] of said.matchAll(/^figure (\S+) (\S+)\r?$/gm))
    figures.set(name, [...(figures.get(name) ?? []), value])
  if (figures.size === 0) throw new Error(`the machine measured nothing:\n${said.slice(-4_000)}`)
  return figures
}
