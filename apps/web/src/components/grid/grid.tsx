// A list of any length: only visible rows are drawn, the keyboard reaches all of them, and a screen reader hears the total.
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

import type { GridAction, GridColumn } from './grid-column.ts'
import { GridHeader } from './grid-header.tsx'
import { GridRow } from './grid-row.tsx'
import { useVisibleRows } from './use-visible-rows.ts'

import style from './grid.module.css'

interface GridProps<T> {
  readonly label: string
  readonly columns: readonly GridColumn<T>[]
  /** undefined: not known yet. */
  readonly total: number | undefined
  /** undefined: not loaded yet. */
  readonly rowAt: (index: number) => T | undefined
  /** Needed where a row can be previewed. */
  readonly keyOf?: (row: T) => string
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly onVisible: (first: number, last: number) => void
  readonly isSelected?: (row: T) => boolean
  readonly previewed?: string | undefined
  readonly onAction: (action: GridAction, row: T, index: number, extends_: boolean) => void
  /** Shown instead of rows where there are none. */
  readonly empty: ReactNode
  /** Shown instead of rows where they cannot be read. */
  readonly failed?: ReactNode
  readonly initialRow?: number
  readonly rowHeight: number
  /** Draws a row on a phone, as two lines. */
  readonly narrow?: ((row: T) => ReactNode) | undefined
}

const HEAD_HEIGHT = 32
/** A jump fills the elements of rows again where their numbers agree; scrolling creates the rows that enter the view. */
const POOL = 96

const keyActions: Readonly<Record<string, GridAction>> = {
  Enter: 'open',
  ' ': 'preview',
  x: 'select',
  '.': 'menu',
}

export function Grid<T>(props: GridProps<T>) {
  const { label, columns, total, rowAt, keyOf, onVisible, previewed, onAction, narrow } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(-1)
  const height = narrow ? props.rowHeight * 1.75 : props.rowHeight
  const view = useVisibleRows(scroller, total ?? 0, height, narrow ? 0 : HEAD_HEIGHT)
  const { first, last, reveal } = view
  useEffect(() => onVisible(first, last), [first, last, onVisible])
  useInitialRow(props.initialRow ?? 0, total, (row) =>
    reveal(row + Math.floor(view.viewHeight / height) - 1),
  )

  const latestAction = useRef(onAction)
  latestAction.current = onAction
  const preview = useCallback((row: T, index: number) => {
    setActive(index)
    latestAction.current('preview', row, index, false)
  }, [])

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.target !== event.currentTarget || !total || event.ctrlKey || event.metaKey) return
    const page = Math.max(1, Math.floor(view.viewHeight / height) - 1)
    const next = nextRow(event.key, active, total, page)
    if (next === undefined) {
      const row = rowAt(active)
      const action = keyActions[event.key]
      if (!row || !action) return
      event.preventDefault()
      return onAction(action, row, active, false)
    }
    event.preventDefault()
    setActive(next)
    reveal(next)
    const row = rowAt(next)
    if (!row) return
    if (event.shiftKey) onAction('select', row, next, true)
    else if (previewed) onAction('preview', row, next, true)
  }

  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, each) => first + each)
  const rows = indexes.map((index) => {
    const row = rowAt(index)
    return (
      <GridRow
        key={index % POOL}
        row={row}
        index={index}
        top={view.topOf(index)}
        height={height}
        columns={columns}
        narrow={narrow}
        isSelected={row !== undefined && (props.isSelected?.(row) ?? false)}
        isActive={index === active}
        isPreviewed={row !== undefined && keyOf !== undefined && previewed === keyOf(row)}
        onPreview={preview}
      />
    )
  })
  const isEmpty = total === 0 || (total === undefined && props.failed !== undefined)
  return (
    <div
      ref={scroller}
      className={style['scroller']}
      role="grid"
      aria-label={label}
      aria-rowcount={(total ?? -1) + (narrow ? 0 : 1)}
      aria-colcount={narrow ? 1 : columns.length}
      aria-multiselectable={props.isSelected !== undefined}
      aria-activedescendant={active >= first && active <= last ? `row-${active}` : undefined}
      aria-busy={total === undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={(event) => event.target === event.currentTarget && active < 0 && setActive(first)}
      style={{ '--columns': columns.map(({ width }) => width).join(' ') } as Record<string, string>}
    >
      {!narrow && <GridHeader columns={columns} sort={props.sort} onSort={props.onSort} />}
      <div role="rowgroup" className={style['body']} style={{ blockSize: view.height }}>
        {view.isScaled ? (
          <div
            role="presentation"
            className={style['window']}
            style={{ blockSize: view.viewHeight }}
          >
            <div role="presentation" style={{ transform: `translateY(${view.shift}px)` }}>
              {rows}
            </div>
          </div>
        ) : (
          rows
        )}
      </div>
      {isEmpty && (
        <div className={style['empty']} role="row">
          <div role="gridcell">{total === 0 ? props.empty : props.failed}</div>
        </div>
      )}
    </div>
  )
}

/** The row that a key moves to; undefined: the key does not move. */
function nextRow(key: string, active: number, total: number, page: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    j: 1,
    ArrowUp: -1,
    k: -1,
    PageDown: page,
    PageUp: -page,
    Home: -total,
    End: total,
  }
  const step = steps[key]
  if (step === undefined) return undefined
  const from = active < 0 && step < 0 ? 0 : active
  return Math.max(0, Math.min(total - 1, from + step))
}

/** Scrolls to a row once, when the total is known. */
function useInitialRow(
  row: number,
  total: number | undefined,
  reveal: (row: number) => void,
): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current || total === undefined) return
    isDone.current = true
    if (row > 0) reveal(row)
  })
}
