/** Every address there is. Rows use these, links use these, so no link can point at nothing. */
export const at = {
  versions: '/api/versions',
  sessions: '/api/sessions',
  session: '/api/session',
  orgs: '/api/org',
  org: '/api/org/:org',
  vdc: '/api/vdc/:vdc',
  instantiate: '/api/vdc/:vdc/action/instantiateVAppTemplate',
  template: '/api/vAppTemplate/:template',
  entity: '/api/vApp/:entity',
  task: '/api/task/:task',
  cancelTask: '/api/task/:task/action/cancel',
  query: '/api/query',
  events: '/api/events',
} as const
