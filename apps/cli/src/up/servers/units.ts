import { unitName, type Server, type ServerName } from '../site/site.ts'
// systemd unit files for the servers of a site, as text.
import { isLowPort } from './processes.ts'

export const unitFile = (name: ServerName): string => `/etc/systemd/system/${unitName(name)}`

/** Quotes a command-line argument for systemd. */
const word = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`

/** Sandboxing of a server that writes only to its site: the same as in the units of the Debian package. */
function confinement({ listens, groups = [] }: Server, dir: string): readonly string[] {
  const cap = listens.some((place) => isLowPort(place)) ? 'CAP_NET_BIND_SERVICE' : ''
  const kernel = ['Clock', 'ControlGroups', 'Hostname', 'KernelLogs', 'KernelModules']
  return [
    ...(groups.length > 0 ? [`SupplementaryGroups=${groups.join(' ')}`] : []),
    'UMask=0077',
    `CapabilityBoundingSet=${cap}`,
    `AmbientCapabilities=${cap}`,
    'ProtectSystem=strict',
    `ReadWritePaths=${word(dir).replaceAll('$$', '$')}`,
    // The source tree may be in a home directory.
    'ProtectHome=read-only',
    'PrivateDevices=yes',
    'PrivateIPC=yes',
    'ProtectProc=invisible',
    ...[...kernel, 'KernelTunables'].map((each) => `Protect${each}=yes`),
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6',
    'RestrictNamespaces=yes',
    'RestrictSUIDSGID=yes',
    'KeyringMode=private',
    'RemoveIPC=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallFilter=~@privileged',
    'SystemCallErrorNumber=EPERM',
  ]
}

/** `dir`: the directory of the site. Output goes to the journal, which limits its size. */
export function unitText(server: Server, dir: string): string {
  const { name, title, command, user, config, ends, after } = server
  const before = after.map(unitName)
  // Guests and the processes that serve their folders keep running without vmd, so only vmd itself is killed.
  const kill = name === 'vmd' ? ['KillMode=process'] : ['KillMode=mixed']
  const libvirt = name === 'vmd' ? ['Wants=libvirtd.service', 'After=libvirtd.service'] : []
  // Our servers may not gain privileges; vmd starts programs that have privileges of their own.
  const bounds = name === 'vmd' ? [] : ['NoNewPrivileges=yes', 'PrivateTmp=yes']
  return [
    '[Unit]',
    `Description=Skerry on one machine: ${title}`,
    'Wants=network-online.target',
    `After=${['network-online.target', ...before].join(' ')}`,
    ...(before.length > 0 ? [`Wants=${before.join(' ')}`] : []),
    ...libvirt,
    // A dependency may be repaired an hour later, so restarts are not limited.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...(user === undefined ? [] : [`User=${user}`]),
    'Environment=LC_ALL=C.UTF-8',
    `ExecStart=${command.map(word).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=2',
    `KillSignal=${ends}`,
    ...kill,
    'TimeoutStopSec=60',
    'LimitNOFILE=65536',
    'RestrictRealtime=yes',
    'LockPersonality=yes',
    ...bounds,
    ...(user === undefined || config === undefined ? [] : confinement(server, dir)),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n')
}
