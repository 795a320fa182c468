import type { AdminCommand } from '../command-line/command.ts'
import { adoption } from '../commands/adopt.ts'
import { createCell, invite, revokeCertificates } from '../commands/cells.ts'
import { createConsoleServer } from '../commands/console.ts'
import { consoles } from '../commands/consoles.ts'
import { hosts } from '../commands/hosts.ts'
import { init } from '../commands/init.ts'
import { allowLeases } from '../commands/leases.ts'
import { createNetworkServer } from '../commands/network.ts'
import { orgs } from '../commands/orgs.ts'
import { recovery } from '../commands/recover.ts'
import { templates } from '../commands/templates.ts'
import { createTemporalServer } from '../commands/temporal.ts'
import { users } from '../commands/users.ts'
import { createWorkflowServer } from '../commands/workflow.ts'
import { zoneInfo } from '../commands/zones.ts'

/** What runs for each command that packages/command-line declares. A test compares the names. */
export const commands: readonly AdminCommand[] = [
  init,
  createCell,
  createConsoleServer,
  createWorkflowServer,
  createNetworkServer,
  createTemporalServer,
  revokeCertificates,
  invite,
  ...hosts,
  ...adoption,
  ...recovery,
  ...orgs,
  ...users,
  ...templates,
  allowLeases,
  ...consoles,
  zoneInfo,
]
