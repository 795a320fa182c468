// Every address and its page.
import { createBrowserRouter, redirect, type RouteObject } from 'react-router'

import { paths } from './app/paths.ts'
import { Shell } from './app/shell.tsx'
import { loadPage } from './data/load-page.ts'
import { destination } from './data/page-state.ts'
import { session, type PageConfig } from './data/session.ts'
import { LoginPage } from './pages/login/page.tsx'
import { PageError } from './pages/not-found/page-error.tsx'
import { NotFoundPage } from './pages/not-found/page.tsx'

const BASE = '/ui'

/** A user without a session logs in first, and comes back to the same address. */
const requireSession: NonNullable<RouteObject['loader']> = ({ request }) => {
  const current = session.get()
  if (current?.isLimited) return redirect(paths.secondFactor)
  if (current) return null
  const { pathname, search } = new URL(request.url)
  const to = pathname.slice(BASE.length) + search
  return redirect(to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`)
}

/** Only for a user who may do nothing else; others add one in their settings. */
const requireLimited: NonNullable<RouteObject['loader']> = () =>
  session.get()?.isLimited ? null : redirect(paths.settings)

const cloudPages: RouteObject[] = [
  {
    index: true,
    lazy: { Component: async () => (await import('./pages/overview/page.tsx')).OverviewPage },
  },
  { path: 'vms', lazy: { Component: async () => (await import('./pages/vms/page.tsx')).VmsPage } },
  {
    path: 'vms/new',
    lazy: { Component: async () => (await import('./pages/new-vm/page.tsx')).NewVmPage },
  },
  {
    path: 'vms/:vm',
    lazy: { Component: async () => (await import('./pages/vm/page.tsx')).VmPage },
  },
  {
    path: 'vapps',
    lazy: { Component: async () => (await import('./pages/vapps/page.tsx')).VAppsPage },
  },
  {
    path: 'vapps/new',
    lazy: { Component: async () => (await import('./pages/new-vapp/page.tsx')).NewVAppPage },
  },
  {
    path: 'vapps/:vapp',
    lazy: { Component: async () => (await import('./pages/vapp/page.tsx')).VAppPage },
  },
  {
    path: 'templates',
    lazy: { Component: async () => (await import('./pages/templates/page.tsx')).TemplatesPage },
  },
  {
    path: 'templates/:template',
    lazy: { Component: async () => (await import('./pages/template/page.tsx')).TemplatePage },
  },
  {
    path: 'catalogs/:catalog',
    lazy: { Component: async () => (await import('./pages/catalog/page.tsx')).CatalogPage },
  },
  {
    path: 'networks',
    lazy: { Component: async () => (await import('./pages/networks/page.tsx')).NetworksPage },
  },
  {
    path: 'networks/new',
    lazy: { Component: async () => (await import('./pages/new-network/page.tsx')).NewNetworkPage },
  },
  {
    path: 'networks/:network',
    lazy: { Component: async () => (await import('./pages/network/page.tsx')).NetworkPage },
  },
  {
    path: 'edge-gateways',
    lazy: {
      Component: async () => (await import('./pages/edge-gateways/page.tsx')).EdgeGatewaysPage,
    },
  },
  {
    path: 'edge-gateways/:gateway',
    lazy: {
      Component: async () => (await import('./pages/edge-gateway/page.tsx')).EdgeGatewayPage,
    },
  },
  {
    path: 'security-groups',
    lazy: {
      Component: async () => (await import('./pages/security-groups/page.tsx')).SecurityGroupsPage,
    },
  },
  {
    path: 'security-groups/new',
    lazy: {
      Component: async () =>
        (await import('./pages/new-security-group/page.tsx')).NewSecurityGroupPage,
    },
  },
  {
    path: 'security-groups/:group',
    lazy: {
      Component: async () => (await import('./pages/security-group/page.tsx')).SecurityGroupPage,
    },
  },
  {
    path: 'device',
    lazy: { Component: async () => (await import('./pages/device/page.tsx')).DevicePage },
  },
  {
    path: 'reach',
    lazy: { Component: async () => (await import('./pages/reach/page.tsx')).ReachPage },
  },
  {
    path: 'tasks',
    lazy: { Component: async () => (await import('./pages/tasks/page.tsx')).TasksPage },
  },
  {
    path: 'events',
    lazy: { Component: async () => (await import('./pages/events/page.tsx')).EventsPage },
  },
  {
    path: 'workflows',
    lazy: { Component: async () => (await import('./pages/workflows/page.tsx')).WorkflowsPage },
  },
  {
    path: 'workflows/import',
    lazy: {
      Component: async () => (await import('./pages/import-workflow/page.tsx')).ImportWorkflowPage,
    },
  },
  {
    path: 'workflows/:workflow',
    lazy: { Component: async () => (await import('./pages/workflow/page.tsx')).WorkflowPage },
  },
  {
    path: 'workflows/:workflow/runs/:run',
    lazy: { Component: async () => (await import('./pages/run/page.tsx')).RunPage },
  },
  {
    path: 'questions',
    lazy: { Component: async () => (await import('./pages/questions/page.tsx')).QuestionsPage },
  },
  {
    path: 'schedules',
    lazy: { Component: async () => (await import('./pages/schedules/page.tsx')).SchedulesPage },
  },
  {
    path: 'settings',
    lazy: { Component: async () => (await import('./pages/settings/page.tsx')).SettingsPage },
  },
  { path: 'org', lazy: { Component: async () => (await import('./pages/org/page.tsx')).OrgPage } },
  {
    path: 'admin/hosts',
    lazy: { Component: async () => (await import('./pages/hosts/page.tsx')).HostsPage },
  },
  {
    path: 'admin/hosts/:host',
    lazy: { Component: async () => (await import('./pages/host/page.tsx')).HostPage },
  },
  {
    path: 'admin/orgs',
    lazy: { Component: async () => (await import('./pages/orgs/page.tsx')).OrgsPage },
  },
  {
    path: 'admin/orgs/:org',
    lazy: { Component: async () => (await import('./pages/admin-org/page.tsx')).AdminOrgPage },
  },
  {
    path: 'admin/external-networks',
    lazy: {
      Component: async () =>
        (await import('./pages/external-networks/page.tsx')).ExternalNetworksPage,
    },
  },
  {
    path: 'admin/vms',
    lazy: { Component: async () => (await import('./pages/all-vms/page.tsx')).AllVmsPage },
  },
  {
    path: 'admin/consoles',
    lazy: { Component: async () => (await import('./pages/consoles/page.tsx')).ConsolesPage },
  },
  {
    path: 'admin/cells',
    lazy: { Component: async () => (await import('./pages/cells/page.tsx')).CellsPage },
  },
  {
    path: 'admin/audit',
    lazy: { Component: async () => (await import('./pages/audit/page.tsx')).AuditPage },
  },
  { path: '*', Component: NotFoundPage },
]

const machinePages: RouteObject[] = [
  { index: true, loader: () => redirect('/vms') },
  {
    path: 'vms',
    lazy: {
      Component: async () => (await import('./pages/machine-vms/page.tsx')).MachineVmsPage,
    },
  },
  {
    path: 'vms/new',
    lazy: {
      Component: async () => (await import('./pages/machine-new-vm/page.tsx')).MachineNewVmPage,
    },
  },
  {
    path: 'vms/:vm',
    lazy: { Component: async () => (await import('./pages/machine-vm/page.tsx')).MachineVmPage },
  },
  {
    path: 'vms/named/:vm',
    lazy: { Component: async () => (await import('./pages/machine-vm/page.tsx')).MachineVmPage },
  },
  {
    path: 'templates',
    lazy: {
      Component: async () =>
        (await import('./pages/machine-templates/page.tsx')).MachineTemplatesPage,
    },
  },
  {
    path: 'tasks',
    lazy: {
      Component: async () => (await import('./pages/machine-tasks/page.tsx')).MachineTasksPage,
    },
  },
  {
    path: 'machine',
    lazy: { Component: async () => (await import('./pages/machine/page.tsx')).MachinePage },
  },
  // Addresses of a cloud, such as a link that a colleague sent. An address of both is matched by the earlier route.
  ...cloudPages.flatMap(({ path }): RouteObject[] =>
    path === undefined || path === '*'
      ? []
      : [
          {
            path,
            lazy: {
              Component: async () =>
                (await import('./pages/machine/not-on-a-machine.tsx')).NotOnAMachinePage,
            },
          },
        ],
  ),
  { path: '*', Component: NotFoundPage },
]

/** The code of a page may be missing: another version was deployed. */
function withReload(route: RouteObject, reload: () => void): RouteObject {
  const { lazy } = route
  if (typeof lazy !== 'object' || !lazy.Component) return route
  const { Component: load } = lazy
  return { ...route, lazy: { ...lazy, Component: () => loadPage(load, reload) } }
}

export function createRouter(kind: PageConfig['kind']) {
  /** Loads the address that the user is on the way to, or that of this page. */
  const reload = (): void => {
    const { location: to } = router.state.navigation
    if (to) location.assign(router.createHref(to))
    else location.reload()
  }
  const pages = kind === 'machine' ? machinePages : cloudPages
  const children = pages.map((page) => withReload(page, reload))
  const router = createBrowserRouter(
    [
      { path: '/login', Component: LoginPage },
      {
        path: '/second-factor',
        loader: requireLimited,
        lazy: {
          Component: async () => (await import('./pages/second-factor/page.tsx')).SecondFactorPage,
        },
      },
      {
        path: '/',
        loader: requireSession,
        shouldRevalidate: () => false,
        Component: Shell,
        children: [{ ErrorBoundary: PageError, children }],
      },
    ],
    { basename: BASE },
  )
  const follow = ({ location: at, navigation }: typeof router.state): void =>
    destination.set((navigation.location ?? at).pathname.slice(BASE.length) || '/')
  follow(router.state)
  router.subscribe(follow)
  return router
}
