// Units of systemd for the servers of a site, as texts.
import type { Server, ServerName } from './site.ts'

export const unitName = (name: ServerName): string => `skerry-site-${name}.service`
export const unitFile = (name: ServerName): string => `/etc/systemd/system/${unitName(name)}`

/** A word of a command line as systemd reads it. */
const word = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`

export function unitText({ name, title, command, user, log, ends, after }: Server): string {
  const before = after.map(unitName)
  // vmd is wanted by guests and not the other way round: they go on without it, and so do those who serve their folders.
  const kill = name === 'vmd' ? ['KillMode=process'] : ['KillMode=mixed']
  const libvirt = name === 'vmd' ? ['Wants=libvirtd.service', 'After=libvirtd.service'] : []
  // Ours may not gain rights that they do not have; vmd starts programs that have rights of their own.
  const bounds = name === 'vmd' ? [] : ['NoNewPrivileges=yes', 'PrivateTmp=yes']
  return [
    '[Unit]',
    `Description=Skerry on one machine: ${title}`,
    'Wants=network-online.target',
    `After=${['network-online.target', ...before].join(' ')}`,
    ...(before.length > 0 ? [`Wants=${before.join(' ')}`] : []),
    ...libvirt,
    // Something that it needs may be mended an hour later: it is tried for ever.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...(user === undefined ? [] : [`User=${user}`]),
    'Environment=LC_ALL=C.UTF-8',
    `ExecStart=${command.map(word).join(' ')}`,
    `StandardOutput=append:${log}`,
    `StandardError=append:${log}`,
    'Restart=on-failure',
    'RestartSec=2',
    `KillSignal=${ends}`,
    ...kill,
    'TimeoutStopSec=60',
    'LimitNOFILE=65536',
    ...['RestrictRealtime=yes', 'LockPersonality=yes', ...bounds],
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n')
}
