import type { ReactNode } from 'react'

import { Logo } from '../../components/icon.tsx'
import { pageConfig } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'

import style from './sheet.module.css'

interface SheetProps {
  readonly children: ReactNode
  readonly footer?: ReactNode
}

/** A page before the app: one sheet with the name of the server. */
export function Sheet({ children, footer }: SheetProps) {
  const { name } = useStore(pageConfig)
  return (
    <div className={style['page']}>
      <main>
        <div className={style['sheet']}>
          <div className={style['brand']}>
            <Logo size={34} />
            <div>
              <h1>Skerry</h1>
              <p>{name}</p>
            </div>
          </div>
          {children}
        </div>
      </main>
      {footer !== undefined && <footer className={style['footer']}>{footer}</footer>}
    </div>
  )
}
