import { useEffect, useRef, useState, type ReactNode } from 'react'

import { formatCount } from '../text/format.ts'
import { Icon } from './icon.tsx'

import style from './filter-bar.module.css'

const TYPING_MS = 200

interface FilterInputProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder: string
  /** Words of the filter that mean nothing. */
  readonly unknown?: readonly string[]
}

/** Reports what was typed when the typing rests. The key '/' moves the focus here. */
export function FilterInput({ value, onChange, placeholder, unknown = [] }: FilterInputProps) {
  const [typed, setTyped] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // What was reported comes back as the value, perhaps after more was typed, which it must not replace.
  const reported = useRef<readonly string[]>([])
  useEffect(() => {
    const at = reported.current.indexOf(value)
    reported.current = at < 0 ? [] : reported.current.slice(at + 1)
    if (at < 0) setTyped(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (text: string, delay: number): void => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      reported.current = [...reported.current, text]
      onChange(text)
    }, delay)
  }
  return (
    <div className={style['filter']}>
      <Icon name="search" />
      <input
        data-filter
        type="search"
        aria-label="Filter"
        aria-invalid={unknown.length > 0 || undefined}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => change(event.target.value, TYPING_MS)}
        onKeyDown={(event) => event.key === 'Escape' && change('', 0)}
      />
      {unknown.length > 0 && (
        <p className={style['unknown']} role="status">
          Not a filter: {unknown.join(' ')}
        </p>
      )}
    </div>
  )
}

export interface ChipOption<T extends string> {
  readonly value: T
  readonly text: string
  readonly count?: number | undefined
}

interface ChipsProps<T extends string> {
  readonly label: string
  readonly options: readonly ChipOption<T>[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A filter with few choices, each with its number of results. */
export const Chips = <T extends string>({ label, options, value, onChange }: ChipsProps<T>) => (
  <div className={style['chips']} role="group" aria-label={label}>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        className={style['chip']}
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.text}
        {option.count !== undefined && <b>{formatCount(option.count)}</b>}
      </button>
    ))}
  </div>
)

/** The line above a list: filter, chips, and at its end the main action. */
export const FilterBar = ({
  children,
  action,
}: {
  readonly children: ReactNode
  readonly action?: ReactNode
}) => (
  <div className={style['bar']}>
    {children}
    {action && <div className={style['action']}>{action}</div>}
  </div>
)
