import { consoleAdmin, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { maybe, printRows, runs, type AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import { limitConsoles, listConsoles } from '../inventory/consoles.ts'

/** A larger limit is assumed to be a typing error. */
const LIMIT_MOST = 100_000

const list = runs(consoleAdmin.list, (context, requested) =>
  withStore(requested, async (db) => {
    const heads = ['org', 'vapp', 'name', 'user', 'from', 'via', 'opened', 'bytes']
    const rows = await listConsoles(db)
    printRows(
      context,
      requested,
      rows.map((row) => ({ ...row })),
      heads,
    )
  }),
)

const limit = runs(consoleAdmin.set, ({ print }, requested) =>
  withStore(requested, async (db) => {
    const limits = {
      perVm: numberIn(requested, 'per-vm'),
      perUser: numberIn(requested, 'per-user'),
    }
    const { perVm, perUser } = await limitConsoles(db, {
      ...(limits.perVm !== undefined && { perVm: limits.perVm }),
      ...(limits.perUser !== undefined && { perUser: limits.perUser }),
    })
    print(
      requested.json
        ? JSON.stringify({ perVm, perUser })
        : `limits: ${perVm} open screens per VM, ${perUser} per user; screens that are open stay open`,
    )
  }),
)

function numberIn(
  requested: Args<typeof consoleAdmin.set.options>,
  option: 'per-vm' | 'per-user',
): number | undefined {
  const text = maybe(requested, option)
  if (text === undefined) return undefined
  if (/^[0-9]{1,6}$/.test(text) && Number(text) <= LIMIT_MOST) return Number(text)
  throw new Fault('invalid', `--${option} must be a number from 0 to ${LIMIT_MOST}, not ${text}`)
}

export const consoles: readonly AdminCommand[] = [list, limit]
