import { asyncCapable, journaled } from './journaled.ts'
import type { LocalRoute } from './route.ts'
import { describing } from './routes/about.ts'
import { address } from './routes/address.ts'
import { events } from './routes/events.ts'
import { folders } from './routes/folders.ts'
import { forwards } from './routes/forwards.ts'
import { guest } from './routes/guest.ts'
import { guests } from './routes/guests.ts'
import { health } from './routes/health.ts'
import { machine } from './routes/machine.ts'
import { operations } from './routes/operations.ts'
import { power } from './routes/power.ts'
import { screen } from './routes/screen.ts'
import { snapshots } from './routes/snapshots.ts'
import { templates } from './routes/templates.ts'
import { vms } from './routes/vms.ts'
import { webUi } from './routes/web-ui.ts'

const rows = [
  ...vms,
  ...power,
  ...address,
  ...folders,
  ...snapshots,
  ...guest,
  ...screen,
  ...forwards,
  ...templates,
  ...events,
  ...operations,
  ...guests,
  ...health,
  ...machine,
  ...webUi,
]
  .map(journaled)
  .map(asyncCapable)

/** The whole API, in the order of the reference. */
export const routes: readonly LocalRoute[] = [...rows, ...describing(rows)]
