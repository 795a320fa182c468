import { Tabs as BaseTabs } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

import style from './tabs.module.css'

export interface TabOption<T extends string> {
  readonly value: T
  readonly text: string
  /** A number beside the text. */
  readonly count?: number | undefined
}

interface TabsProps<T extends string> {
  readonly label: string
  readonly tabs: readonly TabOption<T>[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** The content of the tab that is open. */
  readonly children: ReactNode
}

export const Tabs = <T extends string>({
  label,
  tabs,
  value,
  onChange,
  children,
}: TabsProps<T>) => (
  <BaseTabs.Root
    className={style['root']}
    value={value}
    onValueChange={(next) => onChange(next as T)}
  >
    <BaseTabs.List className={style['tabs']} aria-label={label}>
      {tabs.map((tab) => (
        <BaseTabs.Tab key={tab.value} value={tab.value} className={style['tab']}>
          {tab.text}
          {tab.count !== undefined && tab.count > 0 && <b>{tab.count}</b>}
        </BaseTabs.Tab>
      ))}
    </BaseTabs.List>
    <BaseTabs.Panel value={value} className={style['panel']} tabIndex={-1}>
      {children}
    </BaseTabs.Panel>
  </BaseTabs.Root>
)
