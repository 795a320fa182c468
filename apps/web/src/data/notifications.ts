// Short messages at the edge of the page, about what this user asked for.
import { Toast } from '@base-ui/react/toast'

import { explain } from '../api/client.ts'

export type NotificationTone = 'progress' | 'success' | 'error'

export const notifications = Toast.createToastManager()

const SHOWN_MS = 6000

export interface Notification {
  readonly tone: NotificationTone
  readonly title: string
  readonly description?: string | undefined
}

/** Errors stay until they are closed. */
export function notify({ tone, title, description }: Notification): void {
  notifications.add({
    title,
    ...(description !== undefined && { description }),
    type: tone,
    priority: tone === 'error' ? 'high' : 'low',
    timeout: tone === 'error' ? 0 : SHOWN_MS,
  })
}

export const notifyError = (title: string, error: unknown): void =>
  notify({ tone: 'error', title, description: explain(error) })
