import { withReplacements, element, renderDocument } from '@skerry/xml'

import type { WorkflowDefinition } from '../definition/definition.ts'
import { listedTasks } from '../definition/task.ts'
import { allTasks } from '../definition/walk.ts'
import type { Marks } from './marks.ts'
import { drawBox, drawColumn, arrowDown, type Pen } from './pen.ts'
import { goesOn, planColumn, SIZE } from './plan.ts'
import { css } from './style.ts'
import { wordsOf } from './words.ts'

const MARGIN = 28
const DOT = 9

/**
 * Draws a workflow as a self-contained SVG: colours for light and dark mode, steps marked with their state in a run, and a text
 * description for screen readers.
 */
export function drawWorkflow(definition: WorkflowDefinition, marks: Marks = new Map()): string {
  const column = planColumn(listedTasks(definition.document.do, '/do'))
  const centre = MARGIN + Math.max(column.centre, 60)
  const top = MARGIN + 2 * DOT + SIZE.gap
  const width = Math.ceil(Math.max(centre + (column.width - column.centre) + MARGIN, 2 * centre))
  const bottom = top + column.height + SIZE.gap
  const height = Math.ceil(bottom + 2 * DOT + MARGIN)
  const pen: Pen = { marks }
  const last = column.items.at(-1)?.box
  const x = centre - column.centre
  const svg = element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      role: 'img',
      'aria-labelledby': 'title desc',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    },
    element('title', { id: 'title' }, withReplacements(definition.title)),
    element('desc', { id: 'desc' }, withReplacements(inWords(definition, marks))),
    element('style', {}, css),
    element('rect', { class: 'paper', width, height }),
    element('circle', { class: 'terminal', cx: centre, cy: MARGIN + DOT, r: DOT }),
    ...arrowDown(centre, MARGIN + 2 * DOT, column.items.length === 0 ? bottom : top),
    ...drawColumn(pen, column, x, top, drawBox),
    ...(last !== undefined && goesOn(last) ? arrowDown(centre, bottom - SIZE.gap, bottom) : []),
    element('circle', { class: 'pill', cx: centre, cy: bottom + DOT, r: DOT }),
    element('circle', { class: 'terminal', cx: centre, cy: bottom + DOT, r: DOT - 4 }),
  )
  return renderDocument(svg)
}

const MOST_TOLD = 200

/** A text description of the steps in order. */
function inWords({ summary, document }: WorkflowDefinition, marks: Marks): string {
  const steps = allTasks(document).filter(({ place }) => place.startsWith('/do'))
  const described = steps.slice(0, MOST_TOLD).map((step, index) => {
    const { kind, name, detail, condition } = wordsOf(step)
    const mark = marks.get(step.place)
    const parts = [kind, detail, condition].filter((part) => part !== '').join(' ')
    return `${index + 1}. ${name}: ${parts}${mark === undefined ? '' : `, ${mark}`}.`
  })
  const more = steps.length > MOST_TOLD ? [`And ${steps.length - MOST_TOLD} more.`] : []
  const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}.`
  return [summary.trim(), count, ...described, ...more].filter((part) => part !== '').join('\n')
}
