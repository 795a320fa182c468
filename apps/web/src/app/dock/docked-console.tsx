import { fillScreen, isLeaving, type View } from '@skerry/screen/page/screen'
import { useEffect, useId, useRef, useState } from 'react'

import { notifyError } from '../../data/notifications.ts'
import { useVm } from '../../data/use-documents.ts'
import type { VmDetails } from '../../model/vm.ts'
import { consoleWords } from '../../text/console.ts'
import { ConsoleNotice } from './console-notice.tsx'
import { ConsoleTools } from './console-tools.tsx'
import { PasteDialog } from './paste-dialog.tsx'
import type { ScreenPhase } from './screen-session.ts'
import { requestTicket, useScreenSession } from './use-screen-session.ts'

import style from './dock.module.css'

/** The tools, the screen and what is to say about it. */
export function DockedConsole({ id }: { readonly id: string }) {
  const { data: vm } = useVm(id)
  const leaveId = useId()
  const [view, setView] = useState<View>(() => ({ fits: true, viewOnly: false }))
  // The session keeps the first object, which `change` keeps up to date: a reconnection shows the screen in the same way.
  const kept = useRef(view)
  const { target, session, phase, copied } = useScreenSession(vm, kept.current, leaveId)
  const [isPasting, setIsPasting] = useState(false)
  const [blocked, setBlocked] = useBlockedWindow()
  const stage = useRef<HTMLDivElement>(null)
  const keys = useRef<HTMLButtonElement>(null)
  const notice = useRef<HTMLDivElement>(null)
  useLeaving(stage, keys)
  useKeptFocus(stage, notice)
  const change = (next: View): void => {
    Object.assign(kept.current, next)
    session?.screen?.show(next)
    setView(next)
  }
  const openWindow = async (): Promise<void> => {
    if (vm) setBlocked(await openOwnWindow(vm))
  }
  return (
    <>
      <div className={style['tools']}>
        <p role="status" data-phase={phase.kind}>
          {stateOf(phase)}
        </p>
        <ConsoleTools
          vm={vm}
          screen={phase.kind === 'connected' ? session?.screen : undefined}
          view={view}
          onView={change}
          keysButton={keys}
          onPaste={() => setIsPasting(true)}
          onFullScreen={() => {
            if (!stage.current) return
            void fillScreen(stage.current)
            session?.screen?.focus()
          }}
          onWindow={() => void openWindow()}
        />
      </div>
      <div className={style['stage']} ref={stage} data-guest-keys>
        <div className={style['target']} ref={target} />
        {vm && phase.kind !== 'connected' && (
          <div className={style['notice']} ref={notice} tabIndex={-1}>
            <ConsoleNotice vm={vm} phase={phase} onConnect={() => session?.connectNow()} />
          </div>
        )}
      </div>
      {blocked !== undefined && <BlockedWindow address={blocked} />}
      <p className={style['footer']} id={leaveId}>
        {consoleWords.leave} <kbd>{consoleWords.leaveKeys}</kbd> {consoleWords.leaveMeaning}
      </p>
      {isPasting && (
        <PasteDialog screen={session?.screen} copied={copied} onClose={() => setIsPasting(false)} />
      )}
    </>
  )
}

const stateOf = (phase: ScreenPhase): string => {
  if (phase.kind === 'ended') return phase.words.state
  return phase.kind === 'refused' ? consoleWords.notConnected : consoleWords[phase.kind]
}

const BlockedWindow = ({ address }: { readonly address: string }) => (
  <p className={style['footer']} role="alert">
    {consoleWords.blocked}{' '}
    <a href={address} target="_blank" rel="noopener noreferrer">
      {consoleWords.blockedLink}
    </a>{' '}
    {consoleWords.blockedTime}
  </p>
)

/** A ticket is valid for so long; then its link is of no use. */
const TICKET_MS = 30_000

/** The address of a window that the browser blocked, as long as its ticket is valid. */
function useBlockedWindow() {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (address === undefined) return undefined
    const timer = setTimeout(() => setAddress(undefined), TICKET_MS)
    return () => clearTimeout(timer)
  }, [address])
  return [address, setAddress] as const
}

type ElementRef<T> = { readonly current: T | null }

/** Ctrl Alt Home moves the focus from the screen to the tools, before noVNC sees the key. */
function useLeaving(stage: ElementRef<HTMLElement>, keys: ElementRef<HTMLElement>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!isLeaving(event) || !stage.current?.contains(document.activeElement)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      if (document.fullscreenElement) void document.exitFullscreen()
      keys.current?.focus()
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    return () => removeEventListener('keydown', onKeyDown, { capture: true })
  }, [stage, keys])
}

/**
 * When the screen ends, its canvas is gone and with it the focus: keys for the guest would become shortcuts of the page. The notice
 * in its place gets the focus, and so does the next notice when the button of one is gone. A browser reports no loss of focus then.
 */
function useKeptFocus(stage: ElementRef<HTMLElement>, notice: ElementRef<HTMLElement>): void {
  const isInStage = useRef(false)
  useEffect(() => {
    const look = ({ target }: Event): void => {
      isInStage.current = target instanceof Node && stage.current?.contains(target) === true
    }
    // A click beside every control takes the focus away too, without an event of the focus.
    const kinds = ['focusin', 'pointerdown'] as const
    for (const kind of kinds) document.addEventListener(kind, look, { capture: true })
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, look, { capture: true })
    }
  }, [stage])
  // After every change of what is shown.
  useEffect(() => {
    if (isInStage.current && document.activeElement === document.body) notice.current?.focus()
  })
}

/** Opens the console's own page. Returns its address if the browser blocked the window. */
async function openOwnWindow(vm: VmDetails): Promise<string | undefined> {
  // On the click, before the answer: browsers block it later. With 'noopener' the result does not say whether the window was
  // blocked; the link to this page is cut by hand.
  const opened = window.open('about:blank', '_blank')
  try {
    const ticket = await requestTicket(vm)
    const address = `https://${new URL(ticket.wss).host}/console?${encodeURIComponent(ticket.value)}`
    if (!opened) return address
    opened.opener = null
    opened.location.href = address
  } catch (error) {
    opened?.close()
    notifyError(consoleWords.notOpened(vm.name), error)
  }
  return undefined
}
