import { element, type Child, type Element } from '@skerry/xml'

export interface Row {
  readonly cells: readonly Child[]
  /** A CSS class of the row. */
  readonly kind?: string
}
export interface Table {
  readonly caption: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly id?: string
}

/**
 * A wide table scrolls by itself, also by keyboard. On a small screen each row becomes a card with the column name before each
 * value; explicit roles are needed because this layout removes the implicit ones in some browsers.
 */
export const table = ({ caption, columns, rows, id }: Table): Element =>
  element(
    'div',
    { class: 'table', role: 'region', 'aria-label': caption, tabindex: 0 },
    element(
      'table',
      { role: 'table', id },
      element('caption', {}, caption),
      element(
        'thead',
        { role: 'rowgroup' },
        element(
          'tr',
          { role: 'row' },
          ...columns.map((each) => element('th', { role: 'columnheader', scope: 'col' }, each)),
        ),
      ),
      element('tbody', { role: 'rowgroup' }, ...rows.map((row) => rowOf(row, columns))),
    ),
  )

const rowOf = ({ cells, kind }: Row, columns: readonly string[]): Element =>
  element(
    'tr',
    { role: 'row', class: kind },
    ...cells.map((each, at) => element('td', { role: 'cell', 'data-label': columns[at] }, each)),
  )
