import { Tabs } from '@base-ui/react/tabs'
import { useEffect, type CSSProperties } from 'react'

import { Button } from '../../components/button.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { closeConsole, consoles, selectConsole } from '../../data/consoles.ts'
import { dockLayout } from '../../data/dock-layout.ts'
import { useStore } from '../../data/store.ts'
import { useVm } from '../../data/use-documents.ts'
import { consoleWords } from '../../text/console.ts'
import { DockEdge } from './dock-edge.tsx'
import { DockedConsole } from './docked-console.tsx'

import style from './dock.module.css'

/** The consoles beside or below the page, one of them shown. The others stay connected. */
export function Dock() {
  const { ids, current } = useStore(consoles)
  const layout = useStore(dockLayout)
  const isNarrow = useIsNarrow()
  useEffect(() => focusPage, [])
  return (
    <aside
      className={style['dock']}
      data-side={layout.side}
      style={{ '--percent': layout.percent } as CSSProperties}
      aria-label="Console"
    >
      {!isNarrow && <DockEdge layout={layout} />}
      <Tabs.Root
        className={style['tabs']}
        value={current ?? null}
        onValueChange={(vm) => selectConsole(String(vm))}
      >
        <div className={style['head']}>
          <Tabs.List className={style['list']} aria-label="Consoles">
            {ids.map((id) => (
              <Tabs.Tab key={id} value={id} className={style['tab']}>
                <VmName id={id} />
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {current !== undefined && <CloseButton id={current} />}
        </div>
        {ids.map((id) => (
          <Tabs.Panel key={id} value={id} keepMounted className={style['panel']} tabIndex={-1}>
            <DockedConsole id={id} />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </aside>
  )
}

/** After the last console was closed: the focus was on its button. */
function focusPage(): void {
  if (document.activeElement === document.body) document.getElementById('main')?.focus()
}

const VmName = ({ id }: { readonly id: string }) => useVm(id).data?.name ?? id

const CloseButton = ({ id }: { readonly id: string }) => {
  const name = useVm(id).data?.name ?? id
  return (
    <Button
      small
      tone="plain"
      icon="close"
      label={consoleWords.close(name)}
      onClick={() => closeConsole(id)}
    />
  )
}
