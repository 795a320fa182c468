// Lines for a terminal that can be copied. Every action shows its line: who clicks today scripts it tomorrow.
import { useState } from 'react'

import { Button } from './button.tsx'

import style from './command-line.module.css'

const COPIED_MS = 1600

interface CommandLineProps {
  readonly text: string
  readonly prompt?: string
  readonly wraps?: boolean
}

export function CommandLine({ text, prompt = '$', wraps }: CommandLineProps) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <div className={style['line']}>
      <span className={style['prompt']} aria-hidden="true">
        {prompt}
      </span>
      <code className={`${style['code']} ${wraps ? style['wrapped'] : ''}`} tabIndex={0}>
        {text}
      </code>
      <Button
        small
        tone="plain"
        icon={isCopied ? 'check' : 'copy'}
        label={isCopied ? 'Copied' : 'Copy'}
        onClick={() => void copy()}
      />
    </div>
  )
}

const STORED = 'skerry.terminal'

interface CommandChoiceProps {
  readonly skerry?: string | undefined
  readonly curl?: string | undefined
  readonly title?: string
}

/** The same by `skerry` or by curl; the choice is remembered. */
export function CommandChoice({ skerry, curl, title = 'On a terminal' }: CommandChoiceProps) {
  const [preferred, setPreferred] = useState(() => localStorage.getItem(STORED) ?? 'skerry')
  const choices = Object.entries({ skerry, curl }).flatMap(([name, text]) =>
    text === undefined ? [] : [{ name, text }],
  )
  const shown = choices.find(({ name }) => name === preferred) ?? choices[0]
  if (!shown) return null
  const prefer = (name: string): void => {
    localStorage.setItem(STORED, name)
    setPreferred(name)
  }
  return (
    <div className={style['lines']}>
      <div className={style['choices']}>
        <span>{title}</span>
        {choices.length > 1 &&
          choices.map(({ name }) => (
            <button
              key={name}
              type="button"
              className={style['choice']}
              aria-pressed={name === shown.name}
              onClick={() => prefer(name)}
            >
              {name}
            </button>
          ))}
      </div>
      <CommandLine text={shown.text} />
    </div>
  )
}
