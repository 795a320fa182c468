import type { CloudRoute } from './route.ts'
import { accessTokens } from './routes/access-tokens.ts'
import { adminHosts } from './routes/admin-hosts.ts'
import { adminOrgs } from './routes/admin-orgs.ts'
import { adminUsers } from './routes/admin-users.ts'
import { catalogs } from './routes/catalogs.ts'
import { cloning } from './routes/clone.ts'
import { composing } from './routes/compose.ts'
import { entities } from './routes/entities.ts'
import { events } from './routes/events.ts'
import { hardware } from './routes/hardware.ts'
import { leases } from './routes/leases.ts'
import { notes } from './routes/notes.ts'
import { orgs } from './routes/orgs.ts'
import { query } from './routes/query.ts'
import { schema } from './routes/schema.ts'
import { screens } from './routes/screens.ts'
import { sessions } from './routes/sessions.ts'
import { tasks } from './routes/tasks.ts'
import { uploading } from './routes/uploads.ts'

/** Every address of the tenants' door. */
export const routes: readonly CloudRoute[] = [
  ...sessions,
  ...accessTokens,
  ...orgs,
  ...catalogs,
  ...uploading,
  ...entities,
  ...composing,
  ...cloning,
  ...leases,
  ...hardware,
  ...notes,
  ...screens,
  ...tasks,
  ...query,
  ...events,
  ...schema,
  ...adminOrgs,
  ...adminUsers,
  ...adminHosts,
]
