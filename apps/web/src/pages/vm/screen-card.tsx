import { useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { consoles } from '../../data/consoles.ts'
import { useStore } from '../../data/store.ts'
import { findAction } from '../../model/actions.ts'
import type { VmDetails } from '../../model/vm.ts'
import { Screenshot } from './screenshot.tsx'

import style from './page.module.css'

/** The picture of the screen, unless its console is open beside the page. */
export function ScreenCard({ vm }: { readonly vm: VmDetails }) {
  const { current } = useStore(consoles)
  const startAction = useVmActions()
  const action = findAction(vm.actions, 'console')
  if (current === vm.id || !action) return null
  return (
    <Card
      title="Screen"
      flush
      tools={
        <Button
          small
          icon="console"
          unavailable={action.unavailable}
          onClick={() => startAction(vm, action)}
        >
          Console
        </Button>
      }
    >
      <div className={style['screen']}>
        <Screenshot vm={vm} />
      </div>
    </Card>
  )
}
