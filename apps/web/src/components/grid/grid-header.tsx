import { Icon } from '../icon.tsx'
import type { GridColumn } from './grid-column.ts'

import style from './grid.module.css'

interface GridHeaderProps<T> {
  readonly columns: readonly GridColumn<T>[]
  readonly sort: string
  readonly onSort: (sort: string) => void
}

export const GridHeader = <T,>({ columns, sort, onSort }: GridHeaderProps<T>) => (
  <div role="row" aria-rowindex={1} className={style['head']}>
    {columns.map((column) => {
      const by = column.sort
      const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined
      return (
        <div
          key={column.key}
          role="columnheader"
          aria-sort={by === undefined ? undefined : (order ?? 'none')}
          className={`${style['cell']} ${column.isNumeric ? style['numeric'] : ''}`}
        >
          {by === undefined ? (
            column.title
          ) : (
            <button
              type="button"
              className={style['sort']}
              data-sorted={order}
              onClick={() => onSort(order === 'ascending' ? `-${by}` : by)}
            >
              {column.title}
              {order && <Icon name={order === 'ascending' ? 'up' : 'down'} size={12} />}
            </button>
          )}
        </div>
      )
    })}
  </div>
)
