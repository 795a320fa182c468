import { useEffect, useMemo } from 'react'
import { useNavigate } from 'react-router'

import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import {
  areShortcutsShown,
  isPaletteOpen,
  isTaskListOpen,
  openPalette,
  paletteText,
} from '../data/page-state.ts'
import { pageConfig } from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { typedInto } from '../model/typed-text.ts'
import { paths } from './paths.ts'
import { useNavGroups } from './side-nav.tsx'

import style from './shortcuts.module.css'

const everywhere: readonly (readonly [keys: string, meaning: string])[] = [
  ['Ctrl K', 'search or run a command'],
  ['/', 'filter the list'],
  ['c', 'create a VM'],
  ['t', 'show tasks'],
  ['?', 'show this list'],
  ['Ctrl Alt Home', 'leave the screen of a console'],
]
const inLists: readonly (readonly [keys: string, meaning: string])[] = [
  ['↑ ↓', 'or j k: previous, next row'],
  ['Space', 'preview'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['Shift ↑ ↓', 'select several'],
  ['.', 'actions of the row'],
]
/** The lists of a machine are short: they have neither a preview nor a selection. */
const onlyInCloud = new Set(['Space', 'x', 'Shift ↑ ↓'])

/** Messages at the edge of the page have these roles, too, but do not cover it. */
const DIALOGS = ':is([role=dialog], [role=alertdialog]):not([aria-modal=false])'

/** Keys that work everywhere, except in text fields and dialogs. */
export function useShortcuts(): void {
  const navigate = useNavigate()
  const groups = useNavGroups()
  const goTo = useMemo(
    () =>
      new Map(
        groups.flatMap(({ entries }) =>
          entries.flatMap(({ keys, to }) =>
            keys === undefined ? [] : [[keys.slice(2), to] as const],
          ),
        ),
      ),
    [groups],
  )
  usePaletteKeys()
  useEffect(() => {
    let previous = ''
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault()
        return openPalette()
      }
      const target = event.target as HTMLElement
      const isTyping =
        target.closest('input, textarea, select, [role=menu], [data-guest-keys]') !== null
      const isCombination = event.ctrlKey || event.metaKey || event.altKey
      const isCovered = document.querySelector(DIALOGS) !== null
      if (isTyping || isCombination || isCovered) return
      const to = previous === 'g' ? goTo.get(event.key) : undefined
      previous = event.key
      if (to !== undefined) void navigate(to)
      else if (event.key === 'c') void navigate(paths.newVm)
      else if (event.key === 't') isTaskListOpen.set(!isTaskListOpen.get())
      else if (event.key === '?') areShortcutsShown.set(true)
      else if (event.key === '/') focusFilter(event)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, goTo])
}

/** While the palette has no focus yet, keys are for it: neither shortcuts nor the list that had the focus get them. */
function usePaletteKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isCombination = event.ctrlKey || event.metaKey || event.altKey
      if (!isPaletteOpen.get() || isCombination || isInDialog(event.target)) return
      const text = typedInto(paletteText.get(), event.key)
      if (text === undefined && !['Escape', 'Enter', 'ArrowUp', 'ArrowDown'].includes(event.key))
        return
      event.preventDefault()
      event.stopPropagation()
      if (event.key === 'Escape') isPaletteOpen.set(false)
      else if (text !== undefined) paletteText.set(text)
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    return () => removeEventListener('keydown', onKeyDown, { capture: true })
  }, [])
}

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role=dialog], [role=alertdialog]') !== null

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>('[data-filter]')
  if (!filter) return
  event.preventDefault()
  filter.focus()
}

export function Shortcuts() {
  const isShown = useStore(areShortcutsShown)
  const { kind } = useStore(pageConfig)
  const groups = useNavGroups()
  if (!isShown) return null
  const pages = groups.flatMap(({ entries }) =>
    entries.flatMap(({ keys, text }) => (keys === undefined ? [] : [[keys, text] as const])),
  )
  const close = (): void => areShortcutsShown.set(false)
  return (
    <Dialog
      title="Keyboard shortcuts"
      wide
      onClose={close}
      footer={<Button onClick={close}>Close</Button>}
    >
      <div className={style['groups']}>
        <KeyList title="Everywhere" keys={everywhere} />
        <KeyList
          title="In lists"
          keys={inLists.filter(([keys]) => kind === 'cloud' || !onlyInCloud.has(keys))}
        />
        <KeyList title="Pages" keys={pages} />
      </div>
    </Dialog>
  )
}

const KeyList = ({
  title,
  keys,
}: {
  readonly title: string
  readonly keys: readonly (readonly [string, string])[]
}) => (
  <section>
    <h3>{title}</h3>
    <dl>
      {keys.map(([key, meaning]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </section>
)
