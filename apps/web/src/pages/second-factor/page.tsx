import { CSPProvider } from '@base-ui/react/csp-provider'
import { useState } from 'react'

import { usePageTitle } from '../../app/page-title.ts'
import { AddPasskeyDialog } from '../../app/second-factors/add-passkey-dialog.tsx'
import { AddSecondFactorDialog } from '../../app/second-factors/add-second-factor-dialog.tsx'
import { hasPasskeys } from '../../app/second-factors/passkeys.ts'
import { Sheet } from '../../app/sheet/sheet.tsx'
import { Toasts } from '../../app/toasts.tsx'
import { Button } from '../../components/button.tsx'
import { PageTooltip } from '../../components/tooltip.tsx'
import { logOut, session } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'

/** The organisation requires a second factor, and the user has none: nothing else can be done. */
export function SecondFactorPage() {
  usePageTitle({ text: 'Add a second factor' })
  const { user = '', org = '' } = useStore(session) ?? {}
  const [opened, setOpened] = useState<'app' | 'passkey'>()
  const close = (): void => setOpened(undefined)
  // The session counts for everything now: the page begins again with it.
  const begin = (): void => location.assign('/ui/')
  return (
    <CSPProvider disableStyleElements>
      <Sheet>
        <p>
          The organisation {org} requires a second factor from its users, and {user} has none. Add
          one to go on.
        </p>
        <Button tone="primary" icon="plus" onClick={() => setOpened('app')}>
          Add second factor
        </Button>
        {hasPasskeys() && (
          <Button icon="key" onClick={() => setOpened('passkey')}>
            Add passkey
          </Button>
        )}
        <Button onClick={() => void logOut()}>Log out</Button>
      </Sheet>
      {opened === 'app' && <AddSecondFactorDialog known={[]} onClose={close} onConfirmed={begin} />}
      {opened === 'passkey' && <AddPasskeyDialog known={[]} onClose={close} onAdded={begin} />}
      <Toasts />
      <PageTooltip />
    </CSPProvider>
  )
}
