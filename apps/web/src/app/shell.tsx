import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useRef } from 'react'
import { Outlet, useLocation } from 'react-router'

import { Icon } from '../components/icon.tsx'
import { PageTooltip } from '../components/tooltip.tsx'
import { useIsNarrow } from '../components/use-media.ts'
import { connection } from '../data/connection.ts'
import { consoles } from '../data/consoles.ts'
import { isPaletteOpen } from '../data/page-state.ts'
import { hasSessionEnded, pageConfig } from '../data/session.ts'
import { source } from '../data/source.ts'
import { useStore } from '../data/store.ts'
import { en } from '../text/en.ts'
import { formatClock } from '../text/format.ts'
import { ConsoleDock } from './dock/console-dock.tsx'
import { LazyPart } from './lazy-part.tsx'
import { LoginDialog } from './login-dialog.tsx'
import { Shortcuts, useShortcuts } from './shortcuts.tsx'
import { SideNav } from './side-nav.tsx'
import { TaskStrip } from './task-strip.tsx'
import { Toasts } from './toasts.tsx'
import { TopBar } from './top-bar.tsx'
import { ActionDialog } from './vm-actions.tsx'

import style from './shell.module.css'

/** What surrounds every page: navigation, top bar, docked console, tasks, and what opens above them. */
export function Shell() {
  const { pathname } = useLocation()
  const { isLost, since } = useStore(connection)
  const isLoginNeeded = useStore(hasSessionEnded)
  const { kind } = useStore(pageConfig)
  const main = usePageFocus()
  const isCovered = useIsCovered()
  useShortcuts()
  useEffect(() => source().startLiveUpdates(), [])
  return (
    // Base UI inserts no <style> elements: the Content-Security-Policy forbids them.
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={500}>
        <div className={style['shell']}>
          <div className={style['around']} inert={isCovered}>
            <a className={style['skip']} href="#main">
              Skip to content
            </a>
            <SideNav />
            <TopBar />
          </div>
          <main id="main" ref={main} className={style['main']} tabIndex={-1} inert={isCovered}>
            {isLost && (
              <p className={style['lost']} role="alert">
                <Icon name="offline" />
                {en.noAnswer[kind]} The page shows the state of {formatClock(since)} and tries to
                reconnect.
              </p>
            )}
            {/* Another address is another page, also of the same kind: nothing of the one before stays. */}
            <Outlet key={pathname} />
          </main>
          <ConsoleDock />
          <div className={style['around']} inert={isCovered}>
            <TaskStrip />
          </div>
        </div>
        <Toasts />
        <PaletteWhenOpen />
        <ActionDialog />
        <Shortcuts />
        {isLoginNeeded && <LoginDialog />}
        <PageTooltip />
      </Tooltip.Provider>
    </CSPProvider>
  )
}

/** On a phone a console covers the page: the focus must not go behind it. */
function useIsCovered(): boolean {
  const isNarrow = useIsNarrow()
  return useStore(consoles).ids.length > 0 && isNarrow
}

const loadPalette = async () => (await import('./command-palette.tsx')).CommandPalette
const closePalette = (): void => isPaletteOpen.set(false)

/** Its code is loaded when it is opened for the first time. */
function PaletteWhenOpen() {
  if (!useStore(isPaletteOpen)) return null
  return <LazyPart load={loadPalette} name="The search" onMissing={closePalette} />
}

/** A new page gets the focus and starts at its top, as after loading a document. */
function usePageFocus() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    main.current?.focus({ preventScroll: true })
    main.current?.scrollTo(0, 0)
  }, [pathname])
  return main
}
