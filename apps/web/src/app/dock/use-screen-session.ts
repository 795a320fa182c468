import type { View } from '@skerry/screen/page/screen'
import { useEffect, useRef, useState, type RefObject } from 'react'

import { request } from '../../api/client.ts'
import type { ScreenTicketDocument } from '../../api/documents.ts'
import { findAction, isAvailable } from '../../model/actions.ts'
import type { VmDetails } from '../../model/vm.ts'
import { consoleWords } from '../../text/console.ts'
import { ScreenSession, type ScreenPhase } from './screen-session.ts'

/** A ticket for the screen of this VM: it is valid once, for 30 seconds. */
export function requestTicket(vm: VmDetails): Promise<ScreenTicketDocument> {
  const action = findAction(vm.actions, 'console')
  if (!action || !isAvailable(action))
    throw new Error(action?.unavailable ?? 'your role has no right to see screens')
  return request<ScreenTicketDocument>(action.href, { method: 'POST' })
}

export interface DockedScreen {
  /** Where the screen is drawn. */
  readonly target: RefObject<HTMLDivElement | null>
  readonly session: ScreenSession | undefined
  readonly phase: ScreenPhase
  /** The last text that was copied in the guest. */
  readonly copied: string
}

/** Connects to the screen of a VM while it is on, and again after the connection was lost. */
export function useScreenSession(
  vm: VmDetails | undefined,
  view: View,
  leaveId: string,
): DockedScreen {
  const target = useRef<HTMLDivElement>(null)
  const latest = useRef(vm)
  const [session, setSession] = useState<ScreenSession>()
  const [phase, setPhase] = useState<ScreenPhase>({ kind: 'connecting' })
  const [copied, setCopied] = useState('')
  const id = vm?.id
  const isOn = vm?.power === 'on'
  useEffect(() => {
    latest.current = vm
  }, [vm])
  useEffect(() => {
    if (id === undefined || !target.current) return undefined
    let isFirst = true
    const made = new ScreenSession({
      target: target.current,
      view,
      isOn: () => latest.current?.power === 'on',
      async requestAddress() {
        if (!latest.current) throw new Error('the VM is not known yet')
        return (await requestTicket(latest.current)).wss
      },
      onPhase(next) {
        setPhase(next)
        if (next.kind !== 'connected') return
        made.screen?.describe(consoleWords.screenOf(latest.current?.name ?? ''), leaveId)
        // The user opened it to type into it; a reconnection must not take the keyboard from the page, but returns it to the guest.
        if (hasStageFocus(target.current) || (isFirst && !isTyping())) made.screen?.focus()
        isFirst = false
      },
      onCopied: setCopied,
    })
    setSession(made)
    return () => made.close()
  }, [id, view, leaveId])
  useEffect(() => {
    if (isOn) void session?.connect()
  }, [session, isOn])
  return { target, session, phase, copied }
}

/** Whether the focus is where the screen was: on the notice that is shown without it. */
const hasStageFocus = (target: HTMLElement | null): boolean =>
  target?.parentElement?.contains(document.activeElement) === true

const FIELDS = 'input, textarea, select, [role=dialog], [role=alertdialog]'

/** Whether the user fills in a field or a dialog of the page. */
const isTyping = (): boolean => Boolean(document.activeElement?.closest(FIELDS))
