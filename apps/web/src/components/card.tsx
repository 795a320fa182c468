import type { ReactNode } from 'react'

import style from './card.module.css'

interface CardProps {
  readonly title?: string
  readonly tools?: ReactNode
  readonly children: ReactNode
  /** Without a margin around the content. */
  readonly flush?: boolean
}

export const Card = ({ title, tools, children, flush }: CardProps) => (
  <section className={style['card']}>
    {title !== undefined && (
      <div className={style['head']}>
        <h2>{title}</h2>
        {tools}
      </div>
    )}
    {flush ? (
      children
    ) : (
      <div className={title === undefined ? style['only'] : style['body']}>{children}</div>
    )}
  </section>
)

export type Fact = readonly [name: string, value: ReactNode] | undefined | false

/** Names and values, one pair a line; pairs that do not apply are left out. */
export const Facts = ({ rows }: { readonly rows: readonly Fact[] }) => (
  <dl className={style['facts']}>
    {rows.map(
      (row) =>
        row && (
          <div key={row[0]}>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </div>
        ),
    )}
  </dl>
)
