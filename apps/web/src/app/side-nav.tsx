import { useMemo } from 'react'
import { Link, useLocation } from 'react-router'

import { Icon, Logo, type IconName } from '../components/icon.tsx'
import { isNavOpen } from '../data/page-state.ts'
import { pageConfig, useSession } from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { useTasks } from '../data/use-documents.ts'
import { paths } from './paths.ts'

import style from './shell.module.css'

export interface NavEntry {
  readonly text: string
  readonly icon: IconName
  readonly to: string
  /** Keys that lead there. */
  readonly keys?: string
  /** The right without which the entry is not shown. */
  readonly right?: string
}

export interface NavGroup {
  readonly title: string
  /** The right without which the group is not shown. */
  readonly right?: string
  /** Only where the cloud has a workflow server. */
  readonly needsWorkflows?: true
  readonly entries: readonly NavEntry[]
}

const navGroups: readonly NavGroup[] = [
  {
    title: 'Compute',
    entries: [
      { text: 'Overview', icon: 'home', to: paths.overview, keys: 'g o' },
      { text: 'Virtual machines', icon: 'vm', to: paths.vms, keys: 'g v' },
      { text: 'vApps', icon: 'vapp', to: paths.vapps, keys: 'g a' },
      { text: 'Templates', icon: 'template', to: paths.templates, keys: 'g m' },
    ],
  },
  {
    title: 'Network',
    entries: [
      {
        text: 'Networks',
        icon: 'network',
        to: paths.networks,
        keys: 'g n',
        right: 'vm:read',
      },
      { text: 'Edge gateways', icon: 'route', to: paths.edgeGateways, right: 'network:read' },
      { text: 'Security groups', icon: 'audit', to: paths.securityGroups, right: 'vm:read' },
      { text: 'Who reaches whom', icon: 'link', to: paths.reach, right: 'network:read' },
    ],
  },
  {
    title: 'Activity',
    entries: [
      { text: 'Tasks', icon: 'task', to: paths.tasks, keys: 'g t' },
      { text: 'Events', icon: 'event', to: paths.events, keys: 'g e', right: 'vm:read' },
    ],
  },
  {
    title: 'Automation',
    needsWorkflows: true,
    entries: [
      { text: 'Workflows', icon: 'play', to: paths.workflows, keys: 'g w' },
      { text: 'Questions', icon: 'users', to: paths.questions },
      { text: 'Schedules', icon: 'schedule', to: paths.schedules },
    ],
  },
  {
    title: 'Organisation',
    right: 'org:admin',
    entries: [{ text: 'Users and quota', icon: 'users', to: paths.org, keys: 'g u' }],
  },
  {
    title: 'Cloud',
    right: 'cloud:read',
    entries: [
      { text: 'Hosts', icon: 'host', to: paths.adminHosts, keys: 'g h' },
      { text: 'Organisations', icon: 'org', to: paths.adminOrgs },
      { text: 'External networks', icon: 'out', to: paths.adminExternalNetworks },
      { text: 'All VMs', icon: 'vm', to: paths.adminVms },
      { text: 'Open consoles', icon: 'console', to: paths.adminConsoles },
      { text: 'Cells', icon: 'vapp', to: paths.adminCells },
      { text: 'Audit log', icon: 'audit', to: paths.adminAudit },
    ],
  },
]

/** One machine has neither tenants nor vApps. */
const machineGroups: readonly NavGroup[] = [
  {
    title: 'Compute',
    entries: [
      { text: 'Virtual machines', icon: 'vm', to: paths.vms, keys: 'g v' },
      { text: 'Templates', icon: 'template', to: paths.templates, keys: 'g m' },
    ],
  },
  {
    title: 'Activity',
    entries: [{ text: 'Tasks', icon: 'task', to: paths.tasks, keys: 'g t' }],
  },
  {
    title: 'Machine',
    entries: [{ text: 'This machine', icon: 'host', to: paths.machine, keys: 'g h' }],
  },
]

const isCurrent = (to: string, pathname: string): boolean =>
  to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`)

/** The groups that this user may see. */
export const useNavGroups = (): readonly NavGroup[] => {
  const { rights } = useSession()
  const { kind, workflows = false } = useStore(pageConfig)
  return useMemo(() => {
    const groups = kind === 'machine' ? machineGroups : navGroups
    const isShown = ({ right }: { readonly right?: string }): boolean =>
      right === undefined || rights.has(right)
    return groups
      .filter((group) => isShown(group) && (!group.needsWorkflows || workflows))
      .map((group) => ({ ...group, entries: group.entries.filter(isShown) }))
      .filter(({ entries }) => entries.length > 0)
  }, [kind, rights, workflows])
}

export function SideNav() {
  const { name } = useStore(pageConfig)
  const isOpen = useStore(isNavOpen)
  const groups = useNavGroups()
  const { pathname } = useLocation()
  const { data } = useTasks()
  const failed = data?.tasks.filter(({ state }) => state === 'error').length ?? 0
  const close = (): void => isNavOpen.set(false)
  return (
    <>
      {isOpen && (
        <button
          type="button"
          className={style['scrim']}
          aria-label="Close the menu"
          onClick={close}
        />
      )}
      <nav className={style['nav']} aria-label="Main" data-open={isOpen || undefined}>
        <Link className={style['brand']} to={paths.overview} onClick={close}>
          <Logo />
          Skerry
          <small>{name}</small>
        </Link>
        {groups.map(({ title, entries }) => (
          <div key={title} role="group" aria-label={title}>
            <div className={style['group']} aria-hidden="true">
              {title}
            </div>
            {entries.map((entry) => (
              <Link
                key={entry.to}
                className={style['link']}
                to={entry.to}
                title={entry.text}
                aria-current={isCurrent(entry.to, pathname) ? 'page' : undefined}
                onClick={close}
              >
                <Icon name={entry.icon} />
                <span>{entry.text}</span>
                {entry.to === paths.tasks && failed > 0 && (
                  <em className={style['alert']}>
                    {failed}
                    <span className="visually-hidden"> failed</span>
                  </em>
                )}
              </Link>
            ))}
          </div>
        ))}
      </nav>
    </>
  )
}
