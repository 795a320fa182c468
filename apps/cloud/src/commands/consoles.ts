import { Fault } from '@skerry/fault'

import { maybe, printRows, type Asked, type Command } from '../command.ts'
import { limitConsoles, listConsoles } from '../store/consoles.ts'
import { withStore } from './with-store.ts'

/** More would be a mistake of somebody's. */
const LIMIT_MOST = 100_000

const list: Command = {
  name: 'consoles',
  words: [],
  options: {},
  summary: 'the screens that somebody sees now: whose, who, from where, through which console',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const heads = ['org', 'vapp', 'name', 'user', 'from', 'via', 'opened', 'bytes']
      const rows = await listConsoles(db)
      printRows(
        world,
        asked,
        rows.map((row) => ({ ...row })),
        heads,
      )
    }),
}

const limit: Command = {
  name: 'consoles limit',
  words: [],
  options: { 'per-vm': 'N', 'per-user': 'N' },
  summary: 'how many screens of a VM, and of all that a user sees, may be open at once',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const told = { perVm: numberIn(asked, 'per-vm'), perUser: numberIn(asked, 'per-user') }
      const { perVm, perUser } = await limitConsoles(db, {
        ...(told.perVm !== undefined && { perVm: told.perVm }),
        ...(told.perUser !== undefined && { perUser: told.perUser }),
      })
      print(
        asked.options['json'] === true
          ? JSON.stringify({ perVm, perUser })
          : `at most ${perVm} screens of a VM are open at once, and ${perUser} of a user; what is open stays open`,
      )
    }),
}

function numberIn(asked: Asked, option: string): number | undefined {
  const text = maybe(asked, option)
  if (text === undefined) return undefined
  if (/^[0-9]{1,6}$/.test(text) && Number(text) <= LIMIT_MOST) return Number(text)
  throw new Fault('invalid', `--${option} must be a number from 0 to ${LIMIT_MOST}, not ${text}`)
}

export const consoles: readonly Command[] = [list, limit]
