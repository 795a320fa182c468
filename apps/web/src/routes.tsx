// Every address and its page.
import { createBrowserRouter, redirect, type RouteObject } from 'react-router'

import { Shell } from './app/shell.tsx'
import { session } from './data/session.ts'
import { AdminOrgPage } from './pages/admin-org/page.tsx'
import { AllVmsPage } from './pages/all-vms/page.tsx'
import { AuditPage } from './pages/audit/page.tsx'
import { EventsPage } from './pages/events/page.tsx'
import { HostPage } from './pages/host/page.tsx'
import { HostsPage } from './pages/hosts/page.tsx'
import { LoginPage } from './pages/login/page.tsx'
import { NewVAppPage } from './pages/new-vapp/page.tsx'
import { NewVmPage } from './pages/new-vm/page.tsx'
import { PageError } from './pages/not-found/page-error.tsx'
import { NotFoundPage } from './pages/not-found/page.tsx'
import { OrgPage } from './pages/org/page.tsx'
import { OrgsPage } from './pages/orgs/page.tsx'
import { OverviewPage } from './pages/overview/page.tsx'
import { SettingsPage } from './pages/settings/page.tsx'
import { TasksPage } from './pages/tasks/page.tsx'
import { TemplatePage } from './pages/template/page.tsx'
import { TemplatesPage } from './pages/templates/page.tsx'
import { VAppPage } from './pages/vapp/page.tsx'
import { VAppsPage } from './pages/vapps/page.tsx'
import { VmPage } from './pages/vm/page.tsx'
import { VmsPage } from './pages/vms/page.tsx'

/** A user without a session logs in first, and comes back to the same address. */
const requireSession: NonNullable<RouteObject['loader']> = ({ request }) => {
  if (session.get()) return null
  const { pathname, search } = new URL(request.url)
  const to = pathname.replace(/^\/ui/, '') + search
  return redirect(to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`)
}

const pages: RouteObject[] = [
  { index: true, Component: OverviewPage },
  { path: 'vms', Component: VmsPage },
  { path: 'vms/new', Component: NewVmPage },
  { path: 'vms/:vm', Component: VmPage },
  { path: 'vapps', Component: VAppsPage },
  { path: 'vapps/new', Component: NewVAppPage },
  { path: 'vapps/:vapp', Component: VAppPage },
  { path: 'templates', Component: TemplatesPage },
  { path: 'templates/:template', Component: TemplatePage },
  { path: 'tasks', Component: TasksPage },
  { path: 'events', Component: EventsPage },
  { path: 'settings', Component: SettingsPage },
  { path: 'org', Component: OrgPage },
  { path: 'admin/hosts', Component: HostsPage },
  { path: 'admin/hosts/:host', Component: HostPage },
  { path: 'admin/orgs', Component: OrgsPage },
  { path: 'admin/orgs/:org', Component: AdminOrgPage },
  { path: 'admin/vms', Component: AllVmsPage },
  { path: 'admin/audit', Component: AuditPage },
  { path: '*', Component: NotFoundPage },
]

export const createRouter = () =>
  createBrowserRouter(
    [
      { path: '/login', Component: LoginPage },
      {
        path: '/',
        loader: requireSession,
        shouldRevalidate: () => false,
        Component: Shell,
        children: [{ ErrorBoundary: PageError, children: pages }],
      },
    ],
    { basename: '/ui' },
  )
