// Changes of shares. A request replaces all shares of an object: they are read at once before, so that one that somebody else has added
// meanwhile stays.
import { useState } from 'react'

import { request } from '../../api/client.ts'
import type { ControlAccessDocument } from '../../api/sharing-documents.ts'
import { controlAccessOf, sharesOf, type Share, type ShareAccess } from '../../model/sharing.ts'
import { notifyError } from '../notifications.ts'
import { makeChange } from '../use-change.ts'

export interface ShareChange {
  /** What becomes of the shares. Pure. */
  readonly change: (shares: readonly Share[]) => readonly Share[]
  readonly success: string
  readonly failure: string
  readonly onDone?: () => void
}

export function useShareChange({ readHref = '', changeHref = '' }: ShareAccess) {
  const [isPending, setPending] = useState(false)
  const send = async ({ change, ...reported }: ShareChange): Promise<void> => {
    setPending(true)
    try {
      const now = await request<ControlAccessDocument>(readHref).catch((error: unknown) =>
        notifyError(reported.failure, error),
      )
      if (!now) return
      const body = controlAccessOf(change(sharesOf(now)))
      await makeChange({ href: changeHref, method: 'POST', body, ...reported }).catch(
        () => undefined,
      )
    } finally {
      setPending(false)
    }
  }
  return { send: (wanted: ShareChange): void => void send(wanted), isPending }
}
