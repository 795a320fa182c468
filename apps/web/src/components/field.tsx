import type { InputHTMLAttributes, ReactNode, TextareaHTMLAttributes } from 'react'
import { useId } from 'react'

import style from './field.module.css'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** What is wrong with the value. */
  readonly error?: string | undefined
}

type Described = { readonly id: string; readonly 'aria-describedby'?: string }

export function Field({
  label,
  hint,
  error,
  render,
}: FieldProps & { readonly render: (described: Described) => ReactNode }) {
  const id = useId()
  const note = error ?? hint
  return (
    <div className={style['field']}>
      <label htmlFor={id}>{label}</label>
      {render({ id, ...(note !== undefined && { 'aria-describedby': `${id}-note` }) })}
      {note !== undefined && (
        <small id={`${id}-note`} className={error === undefined ? '' : style['error']}>
          {note}
        </small>
      )}
    </div>
  )
}

export const TextField = ({
  label,
  hint,
  error,
  ...input
}: FieldProps & InputHTMLAttributes<HTMLInputElement>) => (
  <Field
    label={label}
    hint={hint}
    error={error}
    render={(described) => (
      <input
        className={style['input']}
        autoComplete="off"
        spellCheck={false}
        {...input}
        {...described}
        aria-invalid={error !== undefined || undefined}
      />
    )}
  />
)

export const TextArea = ({
  label,
  hint,
  error,
  ...input
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <Field
    label={label}
    hint={hint}
    error={error}
    render={(described) => (
      <textarea
        className={`${style['input']} ${style['area']}`}
        spellCheck={false}
        {...input}
        {...described}
        aria-invalid={error !== undefined || undefined}
      />
    )}
  />
)

export interface SelectOption {
  readonly value: string
  readonly text: string
}

interface SelectFieldProps extends FieldProps {
  readonly value: string
  readonly options: readonly SelectOption[]
  readonly onChange: (value: string) => void
}

export const SelectField = ({ label, hint, error, value, options, onChange }: SelectFieldProps) => (
  <Field
    label={label}
    hint={hint}
    error={error}
    render={(described) => (
      <select
        className={style['input']}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        {...described}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    )}
  />
)

interface CheckFieldProps {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}

export const CheckField = ({ label, checked, onChange }: CheckFieldProps) => (
  <label className={style['check']}>
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
)

interface TilesProps<T> {
  readonly legend: string
  readonly options: readonly { readonly value: T; readonly text: string; readonly more: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A choice of few, each with a line of explanation. */
export function Tiles<T extends string | number>({
  legend,
  options,
  value,
  onChange,
}: TilesProps<T>) {
  const name = useId()
  return (
    <fieldset className={style['tiles']}>
      <legend>{legend}</legend>
      <div>
        {options.map((option) => (
          <label key={option.value} className={style['tile']}>
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>
              {option.text}
              <small>{option.more}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
