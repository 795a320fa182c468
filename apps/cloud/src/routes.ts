import { adminCells } from './admin-routes/cells.ts'
import { adminConsoles } from './admin-routes/consoles.ts'
import { edgeGateways } from './admin-routes/edge-gateways.ts'
import { externalNetworks } from './admin-routes/external-networks.ts'
import { adminHosts } from './admin-routes/hosts.ts'
import { identityProviders } from './admin-routes/identity-providers.ts'
import { networks } from './admin-routes/networks.ts'
import { adminOrgs } from './admin-routes/orgs.ts'
import { orgRoles } from './admin-routes/roles.ts'
import { securityGroups } from './admin-routes/security-groups.ts'
import { orgUsageRoutes } from './admin-routes/usage.ts'
import { adminUsers } from './admin-routes/users.ts'
import { webhooks } from './admin-routes/webhooks.ts'
import type { CloudRoute } from './http/route.ts'
import { bulk } from './routes/bulk.ts'
import { catalogs } from './routes/catalogs.ts'
import { cloning } from './routes/clone.ts'
import { composing } from './routes/compose.ts'
import { entities } from './routes/entities.ts'
import { events } from './routes/events.ts'
import { hardware } from './routes/hardware.ts'
import { leases } from './routes/leases.ts'
import { metadataRoutes } from './routes/metadata.ts'
import { describing } from './routes/openapi.ts'
import { orgs } from './routes/orgs.ts'
import { query } from './routes/query.ts'
import { renaming } from './routes/rename.ts'
import { schema } from './routes/schema.ts'
import { screens } from './routes/screens.ts'
import { accessTokens } from './routes/session/access-tokens.ts'
import { secondFactors } from './routes/session/second-factors.ts'
import { sessions } from './routes/session/sessions.ts'
import { sharing } from './routes/sharing.ts'
import { tasks } from './routes/tasks.ts'
import { uploading } from './routes/uploads.ts'
import { usage } from './routes/usage.ts'

const described: readonly CloudRoute[] = [
  ...sessions,
  ...accessTokens,
  ...secondFactors,
  ...orgs,
  ...networks,
  ...edgeGateways,
  ...externalNetworks,
  ...securityGroups,
  ...orgRoles,
  ...identityProviders,
  ...webhooks,
  ...catalogs,
  ...uploading,
  ...entities,
  ...composing,
  ...cloning,
  ...leases,
  ...hardware,
  ...renaming,
  ...metadataRoutes,
  ...sharing,
  ...screens,
  ...usage,
  ...tasks,
  ...query,
  ...bulk,
  ...events,
  ...schema,
  ...adminOrgs,
  ...adminUsers,
  ...orgUsageRoutes,
  ...adminHosts,
  ...adminCells,
  ...adminConsoles,
]

/** All routes of the tenant API. */
export const routes: readonly CloudRoute[] = [...described, describing(described)]
