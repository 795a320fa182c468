import { chords } from '@skerry/screen/page/keys'
import type { ScreenView, View } from '@skerry/screen/page/screen'
import type { Ref } from 'react'
import { useNavigate } from 'react-router'

import { Button } from '../../components/button.tsx'
import { Menu, type MenuItem } from '../../components/menu.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { dockLayout, setDockLayout } from '../../data/dock-layout.ts'
import { useStore } from '../../data/store.ts'
import { findAction } from '../../model/actions.ts'
import type { VmDetails } from '../../model/vm.ts'
import { consoleWords } from '../../text/console.ts'
import { paths } from '../paths.ts'

interface ConsoleToolsProps {
  readonly vm: VmDetails | undefined
  /** undefined: it is not connected. */
  readonly screen: ScreenView | undefined
  readonly view: View
  readonly onView: (view: View) => void
  /** The first tool: the focus goes there when it leaves the screen. */
  readonly keysButton: Ref<HTMLButtonElement>
  readonly onPaste: () => void
  readonly onFullScreen: () => void
  readonly onWindow: () => void
}

/** Keys that the browser would take, text for the guest, and how the screen is shown. */
export function ConsoleTools(props: ConsoleToolsProps) {
  const { vm, screen, keysButton, onPaste, onFullScreen, onWindow } = props
  const unavailable = screen ? undefined : 'the console is not connected'
  return (
    <>
      <Menu
        trigger={
          <Button small tone="plain" icon="keys" label={consoleWords.keys} ref={keysButton} />
        }
        groups={[
          {
            items: chords.map((chord): MenuItem => {
              const onSelect = (): void => screen?.press(chord)
              return { text: chord.name, unavailable, onSelect }
            }),
          },
        ]}
      />
      <Button
        small
        tone="plain"
        icon="copy"
        label={consoleWords.paste}
        unavailable={unavailable}
        onClick={onPaste}
      />
      <Button
        small
        tone="plain"
        icon="full"
        label={consoleWords.fullScreen}
        unavailable={unavailable}
        onClick={onFullScreen}
      />
      <Button
        small
        tone="plain"
        icon="link"
        label={consoleWords.openWindow}
        unavailable={vm && findAction(vm.actions, 'console')?.unavailable}
        onClick={onWindow}
      />
      <ViewMenu {...props} />
    </>
  )
}

function ViewMenu({ vm, view, onView }: ConsoleToolsProps) {
  const { side, percent } = useStore(dockLayout)
  const isNarrow = useIsNarrow()
  const navigate = useNavigate()
  const place: MenuItem = {
    text: side === 'end' ? consoleWords.atBottom : consoleWords.atEnd,
    onSelect: () => setDockLayout({ side: side === 'end' ? 'bottom' : 'end', percent }),
  }
  const details: MenuItem = {
    text: consoleWords.details,
    icon: 'vm',
    onSelect: () => vm && void navigate(paths.vm(vm.id)),
  }
  return (
    <Menu
      trigger={<Button small tone="plain" icon="more" label={consoleWords.more} />}
      groups={[
        {
          items: [
            {
              text: consoleWords.fit,
              isChecked: view.fits,
              onSelect: () => onView({ ...view, fits: !view.fits }),
            },
            {
              text: consoleWords.viewOnly,
              isChecked: view.viewOnly,
              onSelect: () => onView({ ...view, viewOnly: !view.viewOnly }),
            },
          ],
        },
        // On a phone the dock covers the page: neither place nor page would be seen.
        ...(isNarrow ? [] : [{ items: [place, details] }]),
      ]}
    />
  )
}
