import { renderTable, type TableColumn } from '@skerry/command-line'
import type { MachineFinding } from '@skerry/vm'

import { command } from '../../command.ts'
import { examine, machinePlaces } from '../../machine/checks.ts'
import { exitCodes } from '../../terminal/failure.ts'

const stateColours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

const columns: readonly TableColumn<MachineFinding>[] = [
  { head: 'STATE', cell: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { head: 'CHECK', cell: ({ check }) => check },
  { head: 'FOUND', cell: ({ found }) => found },
]

export const doctor = command({
  name: 'doctor',
  asks: 'none',
  usage: '',
  summary: 'check this machine and explain how to fix problems',
  examples: ['skerry doctor', 'sudo skerry doctor --json'],
  next: 'apply the fixes, then check again: skerry doctor',
  exits: '1 if a check fails; warnings do not count',
  async run(context, { json }) {
    const findings = await examine(context, machinePlaces)
    if (json) context.print(JSON.stringify(findings, null, 2))
    else {
      context.print(renderTable(columns, findings, context.colours))
      for (const { check, fix } of findings) {
        if (fix !== undefined) context.print(`fix ${check}: ${fix}`)
      }
    }
    return findings.some(({ state }) => state === 'fail') ? exitCodes.refused : exitCodes.done
  },
})
