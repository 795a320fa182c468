import type { Command } from './command.ts'
import { adoption } from './commands/adopt.ts'
import { cell, invite, recall } from './commands/cells.ts'
import { hosts } from './commands/hosts.ts'
import { init } from './commands/init.ts'
import { recover } from './commands/recover.ts'
import { serve } from './commands/serve.ts'
import { tenants } from './commands/tenants.ts'

/** All that an administrator does on the machine of a cell, in the order of the help. */
export const commands: readonly Command[] = [
  init,
  serve,
  cell,
  recall,
  invite,
  ...hosts,
  ...adoption,
  recover,
  ...tenants,
]
