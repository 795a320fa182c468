import { useId, useRef, type Ref } from 'react'

import style from './code-area.module.css'

interface CodeAreaProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Lines, from 1, that something is wrong with. */
  readonly marked: ReadonlySet<number>
  /** The id of the element that says what is wrong. */
  readonly describedBy: string | undefined
  readonly placeholder?: string
  readonly ref?: Ref<HTMLTextAreaElement>
}

/** A text with the numbers of its lines. Its direction is that of code, whatever the page has. */
export function CodeArea(props: CodeAreaProps) {
  const { label, value, onChange, marked, describedBy, placeholder, ref } = props
  const id = useId()
  const gutter = useRef<HTMLDivElement>(null)
  const lines = value.split('\n').length
  return (
    <div className={style['field']}>
      <label htmlFor={id}>{label}</label>
      <div className={style['area']} dir="ltr">
        <div ref={gutter} className={style['gutter']} aria-hidden="true">
          {Array.from({ length: lines }, (_, at) => (
            <div key={at} className={marked.has(at + 1) ? style['marked'] : ''}>
              {at + 1}
            </div>
          ))}
        </div>
        <textarea
          ref={ref}
          id={id}
          className={style['text']}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          placeholder={placeholder}
          value={value}
          aria-invalid={marked.size > 0 || describedBy !== undefined || undefined}
          aria-describedby={describedBy}
          onChange={(event) => onChange(event.target.value)}
          onScroll={({ currentTarget }) => {
            if (gutter.current) gutter.current.scrollTop = currentTarget.scrollTop
          }}
        />
      </div>
    </div>
  )
}
