// npm run -s bench -- engine|local|cloud|cloud-power|cloud-operations|console|query|workflow [--json] [--pairs N] [--verbose]
import { parseArgs } from 'node:util'

import { benchOperations } from './cloud-operations.ts'
import { benchPowerOn } from './cloud-power-on.ts'
import { benchConsole } from './console.ts'
import { benchEngine } from './engine.ts'
import type { Figure } from './figure.ts'
import { benchLocal } from './local.ts'
import { benchQuery } from './query.ts'
import { benchWorkflow } from './workflow.ts'

const USAGE =
  'usage: npm run -s bench -- engine|local|cloud|cloud-power|cloud-operations|console|query|workflow [--json] [--pairs N] [--verbose]'
/** Enough for an overview; a published figure needs 100. */
const PAIRS = 15
const areas: Readonly<Record<string, (pairs: number) => Promise<Figure[]>>> = {
  cloud: async (pairs) => [...(await benchPowerOn(pairs)), ...(await benchOperations(pairs))],
  'cloud-power': benchPowerOn,
  'cloud-operations': benchOperations,
  console: benchConsole,
  engine: benchEngine,
  local: benchLocal,
  query: benchQuery,
  workflow: benchWorkflow,
}

class WrongUse extends Error {}

try {
  const { bench, pairs, json } = readWords()
  const figures = await bench(pairs)
  console.log(json ? JSON.stringify(figures) : asTable(figures, pairs))
  // A result within the noise is not a missed goal.
  const isMissed = ({ goal, met, clear }: Figure) => goal !== 'none' && !met && clear
  if (figures.some(isMissed)) process.exitCode = 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof WrongUse ? 2 : 1
}

function readWords() {
  const { values, positionals } = parse()
  const [area = '', ...more] = positionals
  const bench = areas[area]
  if (!bench || more.length > 0) {
    const known = Object.keys(areas).join(', ')
    throw new WrongUse(`there is no benchmark "${positionals.join(' ')}", only: ${known}\n${USAGE}`)
  }
  const pairs = Number(values.pairs ?? PAIRS)
  if (!Number.isInteger(pairs) || pairs < 1) {
    throw new WrongUse(`--pairs must be a whole number from 1 up, not "${values.pairs}"`)
  }
  return { bench, pairs, json: values.json ?? false }
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        pairs: { type: 'string' },
        verbose: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new WrongUse(`${(error as Error).message}\n${USAGE}`)
  }
}

function asTable(figures: readonly Figure[], pairs: number): string {
  const head = ['what', 'ours', 'bare', '', 'ratio', 'middle half', 'goal', '']
  const rows = figures.map(({ name, ours, bare, unit, ratio, spread, goal, met, clear }) => [
    name,
    ours.toFixed(1),
    bare.toFixed(1),
    unit,
    ratio.toFixed(3),
    spread.map((each) => each.toFixed(2)).join('–'),
    goal,
    goal === 'none' ? '' : `${met ? 'met' : 'NOT met'}${clear ? '' : ', noise hides it'}`,
  ])
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [
    ...lines,
    `medians of ${pairs} interleaved pairs, and the quartiles of the pairs' ratios`,
  ].join('\n')
}
