import { memo, type MouseEvent, type ReactNode } from 'react'

import type { GridColumn } from './grid-column.ts'

import style from './grid.module.css'

interface GridRowProps<T> {
  readonly row: T | undefined
  readonly index: number
  readonly top: number
  readonly height: number
  readonly columns: readonly GridColumn<T>[]
  readonly narrow: ((row: T) => ReactNode) | undefined
  readonly isSelected: boolean
  readonly isActive: boolean
  readonly isPreviewed: boolean
  readonly onPreview: (row: T, index: number) => void
}

const placeholder = <div className={style['placeholder']} />

function Row<T>(props: GridRowProps<T>) {
  const { row, index, columns, narrow } = props
  const onClick = (event: MouseEvent): void => {
    const isControl = (event.target as HTMLElement).closest('a, button, input, label') !== null
    if (row !== undefined && !isControl) props.onPreview(row, index)
  }
  return (
    // The keyboard is handled by the grid, which has the focus.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={`row-${index}`}
      role="row"
      aria-rowindex={index + (narrow ? 1 : 2)}
      aria-selected={props.isSelected}
      data-active={props.isActive || undefined}
      data-previewed={props.isPreviewed || undefined}
      className={`${style['row']} ${narrow ? style['narrow'] : ''}`}
      style={{ transform: `translateY(${props.top}px)`, blockSize: props.height }}
      onClick={onClick}
    >
      {narrow ? (
        <div role="gridcell">{row === undefined ? placeholder : narrow(row)}</div>
      ) : (
        columns.map(({ key, isNumeric, cell }) => (
          <div
            key={key}
            role="gridcell"
            className={`${style['cell']} ${isNumeric ? style['numeric'] : ''}`}
          >
            {row === undefined ? placeholder : cell(row, index)}
          </div>
        ))
      )}
    </div>
  )
}

/** Scrolling past a row costs nothing while nothing about it changes. */
export const GridRow = memo(Row) as typeof Row
