import type { AdminCommand } from './command-line/command.ts'
import { adoption } from './commands/adopt.ts'
import { cell, invite, recall } from './commands/cells.ts'
import { makeConsole } from './commands/console.ts'
import { consoles } from './commands/consoles.ts'
import { hosts } from './commands/hosts.ts'
import { init } from './commands/init.ts'
import { leasesAllow } from './commands/leases.ts'
import { orgs } from './commands/orgs.ts'
import { recover } from './commands/recover.ts'
import { serve } from './commands/serve.ts'
import { templates } from './commands/templates.ts'
import { makeTemporal } from './commands/temporal.ts'
import { users } from './commands/users.ts'
import { makeWorkflow } from './commands/workflow.ts'

/** All commands for administrators on the machine of a cell, in the order of the help. */
export const commands: readonly AdminCommand[] = [
  init,
  serve,
  cell,
  makeConsole,
  makeWorkflow,
  makeTemporal,
  recall,
  invite,
  ...hosts,
  ...adoption,
  recover,
  ...orgs,
  ...users,
  ...templates,
  leasesAllow,
  ...consoles,
]
