import { Toast } from '@base-ui/react/toast'

import { Button } from '../components/button.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { notifications, type NotificationTone } from '../data/notifications.ts'

import style from './toasts.module.css'

const icons: Readonly<Record<NotificationTone, IconName>> = {
  progress: 'play',
  success: 'check',
  error: 'warning',
}
const SHOWN_MAX = 4

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => {
    const tone = (toast.type ?? 'progress') as NotificationTone
    return (
      <Toast.Root
        key={toast.id}
        toast={toast}
        swipeDirection={[]}
        className={`${style['toast']} ${style[tone]}`}
      >
        <Toast.Content className={style['content']}>
          <Icon name={icons[tone]} />
          <Toast.Title className={style['title']} />
          <Toast.Description className={style['description']} />
          <Toast.Close
            className={style['close']}
            render={<Button small tone="plain" icon="close" label="Close" plainTooltip />}
          />
        </Toast.Content>
      </Toast.Root>
    )
  })
}

/** Messages at the edge of the page. F6 moves the focus to them. */
export const Toasts = () => (
  <Toast.Provider toastManager={notifications} limit={SHOWN_MAX}>
    <Toast.Portal>
      <Toast.Viewport className={style['viewport']}>
        <ToastList />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)
