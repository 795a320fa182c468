import { Fault } from '@skerry/fault'
import type { Ovsdb } from '@skerry/ovsdb'

import { NORTHBOUND, writeFenced } from './fence.ts'

/** The first compilation of thousands of networks takes minutes of a processor. */
const COMPILE_MS = 30 * 60 * 1000

/**
 * Waits until northd has compiled everything that is in the northbound database. Not for each change: with a hundred hosts, every
 * one of them answers every such question.
 */
export async function waitUntilCompiled(
  database: Ovsdb,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  const compiled = Promise.withResolvers<void>()
  const isDone = ({ nb_cfg, sb_cfg }: Readonly<Record<string, unknown>>) =>
    asked !== undefined && Number(nb_cfg) >= asked && Number(sb_cfg) >= asked
  let asked: number | undefined
  await database.monitor(NORTHBOUND, { NB_Global: ['nb_cfg', 'sb_cfg'] }, (changes) => {
    for (const row of changes.get('NB_Global')?.values() ?? []) {
      if (row.new && isDone(row.new)) compiled.resolve()
    }
  })
  const results = await writeFenced(database, token, [
    { op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] },
    { op: 'select', table: 'NB_Global', where: [], columns: ['nb_cfg', 'sb_cfg'] },
  ])
  const [row = {}] = results[2]?.rows ?? []
  asked = Number(row['nb_cfg'])
  const [now = {}] = await database.select(NORTHBOUND, 'NB_Global', ['nb_cfg', 'sb_cfg'])
  if (isDone(now)) return
  const stopped = () => compiled.reject(new Fault('interrupted', 'the server is stopping'))
  const late = () => compiled.reject(new Fault('timed-out', 'northd does not finish'))
  const timer = setTimeout(late, COMPILE_MS)
  signal.addEventListener('abort', stopped, { once: true })
  try {
    if (signal.aborted) stopped()
    await compiled.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stopped)
  }
}
