import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeSeal } from '@skerry/service'

import type { Command } from '../command.ts'
import { openIdentity } from '../identity/keep-identity.ts'
import type { ForWorkflows } from '../machine/for-workflows.ts'
import { openMachineDoor } from '../machine/server.ts'
import { beginPreparing } from './prepare-tables.ts'
import { withStore } from './with-store.ts'

/** The cell itself: both doors, work and following, until it is told to stop. */
export const serve: Command = {
  name: 'serve',
  words: [],
  options: {},
  summary: 'runs this cell, until it is told to stop',
  run: ({ issuing, uuid, secret, salt, log, stopped }, asked) =>
    withStore(asked, async (db, config) => {
      // Only this command needs the cell, and with it Temporal's worker, which takes its time to load.
      const { startCell } = await import('../cell.ts')
      await using opened = new AsyncDisposableStack()
      const pause = (ms: number) => sleep(ms, undefined, { signal: stopped }).catch(() => undefined)
      const prepared = await beginPreparing(config, { pause, log, stopped })
      // Renewal begins once all of it is open.
      const renewed = () => {
        door.renewed()
        cell.renewed()
      }
      const kept = await openIdentity({ config, db, issuing, pause, log, renewed })
      const { images } = config
      let answering: ForWorkflows | undefined
      const door = opened.use(
        openMachineDoor({
          ...{ db, identity: () => kept.current(), issuing, images, log },
          forWorkflows: () => answering,
        }),
      )
      door.server.listen({ host: config.machines.address, port: config.machines.port })
      await once(door.server, 'listening')
      const identity = () => {
        const { cell, trusted } = kept.current()
        return { ...cell, ca: trusted.hosts }
      }
      const ids = { uuid, secret, salt }
      const tls = () => kept.current().server
      const { clock } = issuing
      const seal = makeSeal(() => kept.current().sealKey, salt)
      const cell = opened.use(await startCell(config, { clock, ids, log, identity, tls, seal }))
      answering = cell.forWorkflows
      await Promise.all([prepared(), kept.keep(stopped)])
    }),
}
