import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useRef, type ButtonHTMLAttributes, type ReactNode, type Ref } from 'react'

import { en } from '../text/en.ts'
import { Icon, type IconName } from './icon.tsx'
import { tooltip } from './tooltip.tsx'

import style from './button.module.css'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  readonly icon?: IconName
  readonly tone?: 'primary' | 'danger' | 'plain'
  readonly small?: boolean
  /** Why it cannot be pressed now. It stays focusable, so that everyone can read the reason. */
  readonly unavailable?: string | undefined
  /** The name of a button that only shows an icon. */
  readonly label?: string
  /** In a long list: the browser's own tooltip, which costs nothing per row. */
  readonly plainTooltip?: boolean
  readonly children?: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({
  icon,
  tone,
  small,
  unavailable,
  label,
  plainTooltip,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const isIconOnly = children === undefined
  const reason = unavailable === undefined ? undefined : en.unavailable(unavailable)
  const tip = reason ?? (isIconOnly ? label : undefined)
  const button = {
    type: 'button' as const,
    ...rest,
    className: [
      style['button'],
      tone && style[tone],
      small && style['small'],
      isIconOnly && style['square'],
      className,
    ]
      .filter(Boolean)
      .join(' '),
    'aria-label': label,
    'aria-disabled': reason !== undefined || undefined,
    'aria-description': reason,
    onClick: reason === undefined ? onClick : undefined,
    children: (
      <>
        {icon && <Icon name={icon} />}
        {!isIconOnly && <span>{children}</span>}
      </>
    ),
  }
  if (reason !== undefined && button.type === 'submit') button.type = 'button' as 'submit'
  useClosedTooltip(tip)
  if (plainTooltip) return <button {...button} title={tip} />
  // With and without a tooltip it is the same element: it keeps the focus, and a click that has begun, when a reason comes or goes.
  return (
    <Tooltip.Trigger
      handle={tooltip}
      payload={tip ?? ''}
      disabled={tip === undefined}
      render={<button {...button} />}
    />
  )
}

/** Closes the tooltip of a button whose text is gone. */
function useClosedTooltip(tip: string | undefined): void {
  const before = useRef(tip)
  useEffect(() => {
    if (before.current !== undefined && tip === undefined && tooltip.isOpen) tooltip.close()
    before.current = tip
  }, [tip])
}
