import type { ReactNode } from 'react'

import style from './table.module.css'

export interface PageTableColumn<T> {
  readonly key: string
  readonly title: string
  /** The title is for screen readers only. */
  readonly isTitleHidden?: boolean
  readonly width?: string
  readonly isNumeric?: boolean
  readonly cell: (row: T) => ReactNode
  /** On a phone only these columns are shown. */
  readonly isEssential?: boolean
}

interface TableProps<T> {
  readonly label: string
  readonly columns: readonly PageTableColumn<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly empty: ReactNode
}

/** A short list; a long one is a Grid. */
export function Table<T>({ label, columns, rows, keyOf, empty }: TableProps<T>) {
  if (rows.length === 0) return <div className={style['empty']}>{empty}</div>
  const classOf = ({ isNumeric, isEssential }: PageTableColumn<T>): string =>
    `${isNumeric ? style['numeric'] : ''} ${isEssential ? '' : style['optional']}`
  return (
    <div className={style['scroller']} role="region" aria-label={label} tabIndex={0}>
      <table className={style['table']}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                className={classOf(column)}
                style={{ inlineSize: column.width }}
              >
                {column.isTitleHidden ? (
                  <span className="visually-hidden">{column.title}</span>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.key} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
