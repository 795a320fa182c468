// Everything by name: VMs, pages, and the actions of the VM that the page shows.
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { useNavigate } from 'react-router'

import { Icon, type IconName } from '../components/icon.tsx'
import { currentVm, isPaletteOpen, isTaskListOpen, paletteText } from '../data/page-state.ts'
import { setTheme } from '../data/preferences.ts'
import { logOut, pageConfig } from '../data/session.ts'
import { source } from '../data/source.ts'
import { useStore } from '../data/store.ts'
import { useVm } from '../data/use-documents.ts'
import { isAvailable } from '../model/actions.ts'
import { en } from '../text/en.ts'
import { formatCount } from '../text/format.ts'
import { paths } from './paths.ts'
import { useNavGroups } from './side-nav.tsx'
import { actionIcons, useVmActions } from './vm-actions.tsx'

import style from './command-palette.module.css'

interface Command {
  readonly id: string
  readonly icon: IconName
  readonly text: string
  readonly more?: string | undefined
  readonly run: () => void
}

interface CommandGroup {
  readonly value: string
  readonly items: readonly Command[]
}

const VMS_SHOWN = 8
const LETTERS_MIN = 2

function useFoundVms(text: string): CommandGroup {
  const navigate = useNavigate()
  const { data } = useQuery({
    queryKey: ['records', 'vm', 'search', text],
    queryFn: ({ signal }) => source().findVms(text, VMS_SHOWN, signal),
    enabled: text.length >= LETTERS_MIN,
    placeholderData: (before) => before,
  })
  const rows = text.length >= LETTERS_MIN ? (data?.records ?? []) : []
  return {
    value: `Virtual machines${data ? ` · ${formatCount(data.total)}` : ''}`,
    items: rows.map((row) => ({
      id: row.id,
      icon: 'vm',
      text: row.name,
      more: [en.power[row.power], row.address].filter(Boolean).join(' · '),
      run: () => void navigate(paths.vm(row.id)),
    })),
  }
}

function useVmCommands(): CommandGroup {
  const { data: vm } = useVm(useStore(currentVm))
  const startAction = useVmActions()
  if (!vm) return { value: '', items: [] }
  return {
    value: vm.name,
    items: vm.actions.filter(isAvailable).map((action) => ({
      id: action.name,
      icon: actionIcons[action.name],
      text: en.action[action.name],
      run: () => startAction(vm, action),
    })),
  }
}

function usePageCommands(): readonly CommandGroup[] {
  const navigate = useNavigate()
  const pages = useNavGroups().flatMap(({ entries }) => entries)
  const isCloud = useStore(pageConfig).kind === 'cloud'
  const settings: Command = {
    id: 'settings',
    icon: 'gear',
    text: 'Settings',
    run: () => void navigate(paths.settings),
  }
  const upload: Command = {
    id: 'upload',
    icon: 'upload',
    text: 'Upload template',
    run: () => void navigate(`${paths.templates}?upload=1`),
  }
  const leave: Command = { id: 'logout', icon: 'out', text: 'Log out', run: () => void logOut() }
  return [
    {
      value: 'Go to',
      items: [
        ...pages.map(({ text, icon, keys, to }) => ({
          id: to,
          icon,
          text,
          more: keys,
          run: () => void navigate(to),
        })),
        ...(isCloud ? [settings] : []),
      ],
    },
    {
      value: 'Commands',
      items: [
        {
          id: 'create',
          icon: 'plus',
          text: 'Create VM',
          more: 'c',
          run: () => void navigate(paths.newVm),
        },
        ...(isCloud ? [upload] : []),
        {
          id: 'tasks',
          icon: 'task',
          text: 'Show tasks',
          more: 't',
          run: () => isTaskListOpen.set(true),
        },
        { id: 'dark', icon: 'moon', text: 'Dark theme', run: () => setTheme('dark') },
        { id: 'light', icon: 'sun', text: 'Light theme', run: () => setTheme('light') },
        ...(isCloud ? [leave] : []),
      ],
    },
  ]
}

const matching = (group: CommandGroup, text: string): CommandGroup => ({
  ...group,
  items: group.items.filter((item) => item.text.toLowerCase().includes(text.toLowerCase())),
})

export function CommandPalette() {
  const text = useStore(paletteText)
  const wanted = useDeferredValue(text.trim())
  const found = useFoundVms(wanted)
  const ofVm = useVmCommands()
  const ofPages = usePageCommands()
  const groups = [
    matching(ofVm, wanted),
    found,
    ...ofPages.map((group) => matching(group, wanted)),
  ].filter(({ items }) => items.length > 0)
  const close = (): void => isPaletteOpen.set(false)
  const run = (command: Command): void => {
    close()
    command.run()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style['backdrop']} />
        <Dialog.Popup className={style['palette']} aria-label="Search or run a command">
          <Autocomplete.Root
            inline
            open
            items={groups}
            value={text}
            onValueChange={(value, { reason }) => reason === 'item-press' || paletteText.set(value)}
            itemToStringValue={(command: Command) => command.text}
            filter={null}
            autoHighlight="always"
            keepHighlight
          >
            <div className={style['input']}>
              <Icon name="search" size={18} />
              <Autocomplete.Input
                aria-label="Search or run a command"
                placeholder="Name of a VM, a page or a command"
                spellCheck={false}
              />
            </div>
            <Autocomplete.Empty className={style['empty']}>Nothing found.</Autocomplete.Empty>
            <Autocomplete.List className={style['list']}>
              {(group: CommandGroup) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={style['group']}>
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={command.id}
                        value={command}
                        className={style['item']}
                        onClick={() => run(command)}
                      >
                        <Icon name={command.icon} />
                        <span>{command.text}</span>
                        {command.more !== undefined && <small>{command.more}</small>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
          <div className={style['footer']}>
            <span>
              <kbd>↑↓</kbd> choose
            </span>
            <span>
              <kbd>Enter</kbd> run
            </span>
            <span>
              <kbd>Esc</kbd> close
            </span>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
