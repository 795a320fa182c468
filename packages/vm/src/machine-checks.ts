import type { HostOverlay } from './nic.ts'

/** What a machine needs to run VMs, and what to do if something is missing. Pure: `skerry doctor` and vmd gather the facts. */
export interface MachineFinding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix?: string
}

/** Programs that vmd runs, and their Debian packages. */
export const requiredPrograms = [
  { name: 'qemu-system-x86_64', package: 'qemu-system-x86' },
  { name: 'qemu-img', package: 'qemu-utils' },
  { name: 'virtiofsd', package: 'qemu-system-common' },
  { name: 'dnsmasq', package: 'dnsmasq-base' },
  { name: 'mkfs.vfat', package: 'dosfstools' },
  { name: 'mcopy', package: 'mtools' },
] as const

/** Where programs are that a normal user's PATH does not contain. */
export const programDirectories = ['/usr/sbin', '/sbin', '/usr/lib/qemu', '/usr/libexec'] as const

export const KVM = '/dev/kvm'

const GIB = 1024 ** 3
const LITTLE_BYTES = 10 * GIB
const TOO_LITTLE_BYTES = GIB

/** `file`: where the program is; undefined: nowhere. */
export function programFinding(
  program: (typeof requiredPrograms)[number],
  file: string | undefined,
): MachineFinding {
  const check = `program ${program.name}`
  return file === undefined
    ? { check, state: 'fail', found: 'not found', fix: `sudo apt install ${program.package}` }
    : { check, state: 'ok', found: file }
}

/** `cpuinfo`: the content of /proc/cpuinfo. */
export function accelerationFinding(cpuinfo: string, hasKvm: boolean, kvm = KVM): MachineFinding {
  const check = 'acceleration'
  const flags = cpuinfo.match(/^flags\s*:(.*)$/m)?.[1]
  const found = 'guests run emulated, which is slow'
  if (!/ (vmx|svm)( |$)/.test(flags ?? '')) {
    const fix =
      'enable virtualisation (VT-x or AMD-V) in the firmware, or nested virtualisation on the host'
    return { check, state: 'warn', found: `${found}: the CPU offers no virtualisation`, fix }
  }
  if (hasKvm) return { check, state: 'ok', found: `supported by the CPU, and ${kvm} exists` }
  const fix = 'sudo modprobe kvm_intel, or kvm_amd'
  return { check, state: 'warn', found: `${found}: there is no ${kvm}`, fix }
}

export function spaceFinding(freeBytes: number, data: string): MachineFinding {
  const found = `${(freeBytes / GIB).toFixed(1)} GiB free for ${data}`
  if (freeBytes >= LITTLE_BYTES) return { check: 'space', state: 'ok', found }
  const fix = 'delete VMs that are not needed (skerry list, skerry rm VM), or add storage'
  return { check: 'space', state: freeBytes < TOO_LITTLE_BYTES ? 'fail' : 'warn', found, fix }
}

export const templateFinding = (hasDefault: boolean): MachineFinding =>
  hasDefault
    ? { check: 'template default', state: 'ok', found: 'exists' }
    : {
        check: 'template default',
        state: 'fail',
        found: 'missing; new VMs are created from it',
        fix: 'sudo skerry template build, or skerry template import FILE --default',
      }

export const OVERLAY_CHECK = 'networks across hosts'

/** Why a host cannot reach networks across hosts, as its reason begins or ends, and what to do. */
const overlayFixes: readonly (readonly [RegExp, string])[] = [
  [/^(Open vSwitch|ovs-vswitchd) does not run/, 'sudo systemctl restart openvswitch-switch'],
  [/^ovn-controller does not run/, 'sudo apt install ovn-host && sudo systemctl restart ovn-host'],
  [
    /^ovn-controller is not connected/,
    'see that this machine reaches TCP port 6642 of the network server, and that skerry-network runs there',
  ],
  [
    /^the MTU of /,
    'raise the MTU of that card: sudo ip link set CARD mtu NUMBER, and in its configuration',
  ],
  [
    /^no card of this host has the address /,
    'give a card that address, or join the host again with another one',
  ],
  [
    /^it has not joined /,
    'run a network server; a cell then connects this host: skerry admin network-server create',
  ],
]

/** undefined: the machine has no Open vSwitch and needs none. `isNetdev`: ovs-vswitchd forwards packets itself. */
export function overlayFinding(
  { state, reason = '', uplinks }: HostOverlay,
  isNetdev: boolean,
): MachineFinding | undefined {
  const check = OVERLAY_CHECK
  if (state === 'none') return undefined
  if (state === 'failing') {
    const known = overlayFixes.find(([begins]) => begins.test(reason))
    return { check, state: 'fail', found: reason, fix: known?.[1] ?? 'see the log of vmd' }
  }
  const leads = uplinks.length === 0 ? 'no external network' : uplinks.join(', ')
  if (!isNetdev) return { check, state: 'ok', found: `ready; external: ${leads}` }
  return {
    check,
    state: 'warn',
    found: `ready; external: ${leads}; ovs-vswitchd forwards packets itself, which is slow`,
    fix: 'sudo modprobe openvswitch, then set datapath_type of the bridges to system',
  }
}
