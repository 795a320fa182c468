import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import type { FormEvent, ReactNode } from 'react'

import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

import style from './dialog.module.css'

interface FrameProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
}

const Frame = ({ title, onClose, children, wide }: FrameProps) => (
  <BaseDialog.Root open onOpenChange={(open) => open || onClose()}>
    <BaseDialog.Portal>
      <BaseDialog.Backdrop className={style['backdrop']} />
      <BaseDialog.Popup className={`${style['dialog']} ${wide ? style['wide'] : ''}`}>
        <BaseDialog.Title className={style['title']}>{title}</BaseDialog.Title>
        {children}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
)

interface DialogProps extends FrameProps {
  /** The buttons; none: the user has to wait. */
  readonly footer?: ReactNode
}

/** A dialog that informs. It is open while it is rendered. */
export const Dialog = ({ children, footer, ...frame }: DialogProps) => (
  <Frame {...frame}>
    <div className={style['body']}>{children}</div>
    {footer && <div className={style['footer']}>{footer}</div>}
  </Frame>
)

interface FormDialogProps extends FrameProps {
  /** The text of the button that sends the form. */
  readonly action: string
  readonly icon?: IconName
  /** Why the form cannot be sent now. */
  readonly unavailable?: string | undefined
  /** Default: Cancel. */
  readonly cancel?: string
  /** Buttons between the two. */
  readonly others?: ReactNode
  readonly onSubmit: () => void
}

/** A form in a dialog, which is open while it is rendered. */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, children, action, icon, unavailable, cancel = 'Cancel', others } = props
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    // The key Enter in a form with one field sends it, whatever its button says.
    if (unavailable === undefined) props.onSubmit()
  }
  return (
    <Frame title={title} onClose={onClose} {...(props.wide && { wide: true })}>
      <form onSubmit={submit}>
        <div className={style['body']}>{children}</div>
        <div className={style['footer']}>
          <Button onClick={onClose}>{cancel}</Button>
          {others}
          <Button type="submit" tone="primary" unavailable={unavailable} {...(icon && { icon })}>
            {action}
          </Button>
        </div>
      </form>
    </Frame>
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
