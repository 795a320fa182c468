import { examine, machinePlaces, type Finding } from '../checks.ts'
import { command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { renderTable, type Column } from '../table.ts'

const stateColours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

const columns: readonly Column<Finding>[] = [
  { head: 'STATE', cell: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { head: 'POINT', cell: ({ check }) => check },
  { head: 'FOUND', cell: ({ found }) => found },
]

export const doctor = command({
  name: 'doctor',
  asks: 'nobody',
  usage: '',
  summary: 'look at this machine and say how to mend what is amiss',
  examples: ['skerry doctor', 'sudo skerry doctor --json'],
  next: 'do what stands behind mend, then look again: skerry doctor',
  exits: '1 when a point fails; a warning is none',
  async run(world, { json }) {
    const findings = await examine(world, machinePlaces)
    if (json) world.print(JSON.stringify(findings, null, 2))
    else {
      world.print(renderTable(columns, findings, world.colours))
      for (const { check, mend } of findings) {
        if (mend !== undefined) world.print(`mend ${check}: ${mend}`)
      }
    }
    return findings.some(({ state }) => state === 'fail') ? exitCodes.refused : exitCodes.done
  },
})
