import { Autocomplete } from '@base-ui/react/autocomplete'
import { useState, type ReactNode } from 'react'

import { Field } from '../../components/field.tsx'

import field from '../../components/field.module.css'
import style from './suggest-field.module.css'

interface SuggestFieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly placeholder?: string
  readonly value: string
  /** What can be chosen. Another text may be typed; without any it is a text field. */
  readonly suggestions: readonly string[]
  readonly onChange: (value: string) => void
}

/** A text field with suggestions: a combobox for those who can list what there is. */
export function SuggestField(props: SuggestFieldProps) {
  const { label, hint, placeholder, value, suggestions, onChange } = props
  const [isOpen, setOpen] = useState(false)
  const typed = value.toLowerCase()
  const matching = suggestions.filter((each) => each.toLowerCase().includes(typed))
  // An open list hides the rest of the dialog from screen readers: it is open only while there is something to choose.
  const hasChoice = matching.some((each) => each !== value)
  return (
    <Field
      label={label}
      hint={hint}
      render={(described) => (
        <Autocomplete.Root
          items={matching}
          filter={null}
          value={value}
          onValueChange={onChange}
          open={isOpen && hasChoice}
          onOpenChange={setOpen}
          openOnInputClick
        >
          <Autocomplete.Input
            className={field['input']}
            autoComplete="off"
            spellCheck={false}
            placeholder={placeholder}
            {...described}
            // The open list hides the label from screen readers, too.
            aria-label={label}
          />
          <Autocomplete.Portal>
            <Autocomplete.Positioner className={style['positioner']} sideOffset={4}>
              <Autocomplete.Popup className={style['popup']}>
                <Autocomplete.List className={style['list']}>
                  {(suggestion: string) => (
                    <Autocomplete.Item
                      key={suggestion}
                      value={suggestion}
                      className={style['item']}
                    >
                      {suggestion}
                    </Autocomplete.Item>
                  )}
                </Autocomplete.List>
              </Autocomplete.Popup>
            </Autocomplete.Positioner>
          </Autocomplete.Portal>
        </Autocomplete.Root>
      )}
    />
  )
}
