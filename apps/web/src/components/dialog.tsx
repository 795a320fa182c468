import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import type { FormEvent, ReactNode } from 'react'

import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

import style from './dialog.module.css'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The buttons; none: the dialog only informs. */
  readonly footer?: ReactNode
  readonly onSubmit?: () => void
  readonly wide?: boolean
}

/** A dialog that is open while it is rendered. With `onSubmit` it is a form. */
export function Dialog({ title, onClose, children, footer, onSubmit, wide }: DialogProps) {
  const content = (
    <>
      <div className={style['body']}>{children}</div>
      {footer && <div className={style['footer']}>{footer}</div>}
    </>
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit?.()
  }
  return (
    <BaseDialog.Root open onOpenChange={(open) => open || onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={style['backdrop']} />
        <BaseDialog.Popup className={`${style['dialog']} ${wide ? style['wide'] : ''}`}>
          <BaseDialog.Title className={style['title']}>{title}</BaseDialog.Title>
          {onSubmit ? <form onSubmit={submit}>{content}</form> : content}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

interface ConfirmProps {
  readonly title: string
  /** The verb of the action, such as Delete. */
  readonly action: string
  readonly icon?: IconName
  readonly isDangerous?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Asks before an action that loses something. */
export function ConfirmDialog(props: ConfirmProps) {
  const { title, action, icon, isDangerous = true, onConfirm, onClose, children } = props
  return (
    <AlertDialog.Root open onOpenChange={(open) => open || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={style['backdrop']} />
        <AlertDialog.Popup className={style['dialog']}>
          <AlertDialog.Title className={style['title']}>{title}</AlertDialog.Title>
          <div className={style['body']}>{children}</div>
          <div className={style['footer']}>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              tone={isDangerous ? 'danger' : 'primary'}
              {...(icon && { icon })}
              onClick={onConfirm}
            >
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
