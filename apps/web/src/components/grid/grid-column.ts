import type { ReactNode } from 'react'

export interface GridColumn<T> {
  readonly key: string
  readonly title: ReactNode
  /** A track of CSS grid. */
  readonly width: string
  /** The column of the query service that it sorts by. */
  readonly sort?: string
  readonly isNumeric?: boolean
  readonly cell: (row: T, index: number) => ReactNode
}

export type GridAction = 'open' | 'preview' | 'select' | 'menu'
