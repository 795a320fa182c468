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
  const [blocked, setBlocked] = useState<string>()
  const stage = useRef<HTMLDivElement>(null)
  const keys = useRef<HTMLButtonElement>(null)
  useLeaving(stage, keys)
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
      <div className={style['stage']} ref={stage}>
        <div className={style['target']} ref={target} />
        {vm && phase.kind !== 'connected' && (
          <ConsoleNotice vm={vm} phase={phase} onConnect={() => session?.connectNow()} />
        )}
      </div>
      <p className={style['footer']} id={leaveId}>
        {blocked === undefined ? <HowToLeave /> : <BlockedWindow address={blocked} />}
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

const HowToLeave = () => (
  <>
    {consoleWords.leave} <kbd>{consoleWords.leaveKeys}</kbd> {consoleWords.leaveMeaning}
  </>
)

const BlockedWindow = ({ address }: { readonly address: string }) => (
  <>
    {consoleWords.blocked}{' '}
    <a href={address} target="_blank" rel="noopener noreferrer">
      {consoleWords.blockedLink}
    </a>{' '}
    {consoleWords.blockedTime}
  </>
)

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

/** Opens the console's own page. Returns its address if the browser blocked the window. */
async function openOwnWindow(vm: VmDetails): Promise<string | undefined> {
  try {
    const ticket = await requestTicket(vm)
    const address = `https://${new URL(ticket.wss).host}/console?${encodeURIComponent(ticket.value)}`
    // With 'noopener' the result does not say whether the window was blocked; the link to this page is cut by hand.
    const opened = window.open('about:blank', '_blank')
    if (!opened) return address
    opened.opener = null
    opened.location.href = address
  } catch (error) {
    notifyError(consoleWords.notOpened(vm.name), error)
  }
  return undefined
}
