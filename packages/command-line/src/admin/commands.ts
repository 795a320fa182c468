import { consoleAdmin } from './consoles.ts'
import type { AdminDeclaration } from './declare.ts'
import { hostAdmin } from './hosts.ts'
import { serverAdmin } from './servers.ts'
import { tenantAdmin } from './tenants.ts'
import { zoneAdmin } from './zones.ts'

/** All commands of `skerry admin`, in the order of the man page. */
export const adminCommands: readonly AdminDeclaration[] = [
  ...Object.values(serverAdmin),
  ...Object.values(hostAdmin),
  ...Object.values(tenantAdmin),
  ...Object.values(consoleAdmin),
  ...Object.values(zoneAdmin),
]
