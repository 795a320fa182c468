// The screen of a VM beside the page; it stays open while pages change. The page shows a picture that is renewed every few seconds
// and opens the interactive console in a window of its own, with a ticket that is requested on the click.
import { useEffect, useState } from 'react'
import { Link } from 'react-router'

import { pathOf, request } from '../api/client.ts'
import type { ScreenTicketDocument } from '../api/documents.ts'
import { Button } from '../components/button.tsx'
import { notifyError } from '../data/notifications.ts'
import { consoleVm } from '../data/page-state.ts'
import { useStore } from '../data/store.ts'
import { useVm } from '../data/use-documents.ts'
import { findAction } from '../model/actions.ts'
import type { VmDetails } from '../model/vm.ts'
import { en } from '../text/en.ts'
import { paths } from './paths.ts'

import style from './console-dock.module.css'

const REFRESH_MS = 10_000

/** The picture of the screen; a new address every few seconds, so that the browser loads it again. */
export function Screenshot({ vm }: { readonly vm: VmDetails }) {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === 'visible' && setTick((now) => now + 1),
      REFRESH_MS,
    )
    return () => clearInterval(timer)
  }, [])
  if (vm.screenshotHref === undefined || vm.power !== 'on')
    return <p className={style['dark']}>{en.powerMeaning[vm.power]}</p>
  return (
    <img
      className={style['screen']}
      src={`${pathOf(vm.screenshotHref)}?at=${tick}`}
      alt={`Screen of ${vm.name}`}
    />
  )
}

/** The address of the console page with a ticket, which is valid once, for 30 seconds. */
async function consoleAddress(href: string): Promise<string> {
  const ticket = await request<ScreenTicketDocument>(href, { method: 'POST' })
  return `https://${new URL(ticket.wss).host}/console?${encodeURIComponent(ticket.value)}`
}

export function ConsoleDock() {
  const id = useStore(consoleVm)
  return id === undefined ? null : <Dock key={id} id={id} />
}

function Dock({ id }: { readonly id: string }) {
  const { data: vm } = useVm(id)
  const [blocked, setBlocked] = useState<string>()
  const action = vm && findAction(vm.actions, 'console')
  const name = vm?.name ?? ''
  const openWindow = async (): Promise<void> => {
    if (!action) return
    try {
      const address = await consoleAddress(action.href)
      // With 'noopener' the result does not say whether the window was blocked; the link to this page is cut by hand.
      const opened = window.open('about:blank', '_blank')
      if (!opened) return setBlocked(address)
      opened.opener = null
      opened.location.href = address
    } catch (error) {
      notifyError(`The console of ${name} did not open`, error)
    }
  }
  return (
    <aside className={style['dock']} aria-label={`Console of ${name}`}>
      <div className={style['head']}>
        <h2>
          <Link to={paths.vm(id)}>{name}</Link>
        </h2>
        <p role="status">{vm ? en.power[vm.power] : ''}</p>
        <Button
          small
          tone="primary"
          icon="link"
          unavailable={action?.unavailable}
          onClick={() => void openWindow()}
        >
          Open console
        </Button>
        <Button
          small
          tone="plain"
          icon="close"
          label="Close the console"
          onClick={() => consoleVm.set(undefined)}
        />
      </div>
      <div className={style['stage']}>{vm && <Screenshot vm={vm} />}</div>
      <p className={style['footer']}>
        {blocked === undefined ? (
          'The picture is renewed every 10 seconds. The console opens in a window of its own.'
        ) : (
          <>
            The browser blocked the window.{' '}
            <a href={blocked} target="_blank" rel="noopener noreferrer">
              Open the console
            </a>{' '}
            within 30 seconds.
          </>
        )}
      </p>
    </aside>
  )
}
