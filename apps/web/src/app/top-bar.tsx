import { useEffect, useState } from 'react'
import { Link, useNavigate } from 'react-router'

import { now } from '../api/clock-and-ids.ts'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { Menu } from '../components/menu.tsx'
import { connection, isStreamRefused } from '../data/connection.ts'
import { areShortcutsShown, isNavOpen, openPalette } from '../data/page-state.ts'
import { density, setDensity, setTheme, theme } from '../data/preferences.ts'
import { logOut, pageConfig, useSession } from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { INTERVAL_MS } from '../data/updates/interval-updates.ts'
import { en } from '../text/en.ts'
import { formatCount } from '../text/format.ts'
import { breadcrumbs } from './page-title.ts'
import { paths } from './paths.ts'

import style from './shell.module.css'

export const TopBar = () => (
  <header className={style['top']}>
    <span className={style['menuButton']}>
      <Button tone="plain" icon="menu" label="Menu" onClick={() => isNavOpen.set(true)} />
    </span>
    <Breadcrumbs />
    <button
      type="button"
      className={style['search']}
      aria-keyshortcuts="Control+K"
      onClick={openPalette}
    >
      <Icon name="search" />
      <span>Search or run a command</span>
      <kbd>Ctrl K</kbd>
    </button>
    <Liveness />
    <AppearanceMenu />
    <UserMenu />
  </header>
)

function Breadcrumbs() {
  const crumbs = useStore(breadcrumbs)
  return (
    <nav className={style['breadcrumbs']} aria-label="Breadcrumbs">
      <ol className={style['crumbs']}>
        {crumbs.map(({ text, to, total }) => (
          <li key={text}>
            {to === undefined ? (
              <h1 aria-current="page" title={text}>
                {text} {total !== undefined && <span>{formatCount(total)}</span>}
              </h1>
            ) : (
              <>
                <Link to={to}>{text}</Link>
                <Icon name="right" size={12} />
              </>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Whether the page shows the present, and if not, since when. */
function Liveness() {
  const { isLost, since } = useStore(connection)
  const isRefused = useStore(isStreamRefused)
  const { kind } = useStore(pageConfig)
  const [time, setTime] = useState(now)
  useEffect(() => {
    if (!isLost) return undefined
    const timer = setInterval(() => setTime(now()), 1000)
    return () => clearInterval(timer)
  }, [isLost])
  const seconds = Math.max(1, Math.round((time - since) / 1000))
  const interval = INTERVAL_MS / 1000
  const [text, meaning] = isLost
    ? [`No answer for ${seconds} s`, en.noAnswer[kind]]
    : isRefused
      ? [`Every ${interval} s`, en.noEvents(interval)]
      : ['Live', 'Changes are shown as they happen']
  return (
    <span
      className={style['liveness']}
      data-lost={isLost || undefined}
      data-refused={isRefused || undefined}
      role="status"
      title={meaning}
    >
      <span>{text}</span>
    </span>
  )
}

function AppearanceMenu() {
  const currentTheme = useStore(theme)
  const currentDensity = useStore(density)
  const themeNames = { system: 'Like this computer', light: 'Light', dark: 'Dark' } as const
  const densityNames = { dense: 'Dense', roomy: 'Roomy' } as const
  return (
    <Menu
      trigger={<Button tone="plain" icon="sun" label="Appearance" />}
      groups={[
        {
          title: 'Theme',
          items: (['system', 'light', 'dark'] as const).map((each) => ({
            text: themeNames[each],
            isChecked: each === currentTheme,
            onSelect: () => setTheme(each),
          })),
        },
        {
          title: 'Rows',
          items: (['dense', 'roomy'] as const).map((each) => ({
            text: densityNames[each],
            isChecked: each === currentDensity,
            onSelect: () => setDensity(each),
          })),
        },
      ]}
    />
  )
}

function UserMenu() {
  const { user, org, role } = useSession()
  const { kind } = useStore(pageConfig)
  const navigate = useNavigate()
  if (kind === 'machine') {
    const showShortcuts = (): void => areShortcutsShown.set(true)
    return <Button tone="plain" icon="keys" label="Keyboard shortcuts" onClick={showShortcuts} />
  }
  return (
    <Menu
      trigger={<Button tone="plain" icon="users" label={`Account ${user}@${org}`} />}
      groups={[
        {
          title: [`${user}@${org}`, role].filter((part) => part !== '').join(' · '),
          items: [
            { text: 'Settings', icon: 'gear', onSelect: () => void navigate(paths.settings) },
            {
              text: 'Keyboard shortcuts',
              icon: 'keys',
              shortcut: '?',
              onSelect: () => areShortcutsShown.set(true),
            },
          ],
        },
        { items: [{ text: 'Log out', icon: 'out', onSelect: () => void logOut() }] },
      ]}
    />
  )
}
